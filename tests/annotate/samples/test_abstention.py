"""The rule that proposes abstentions, measured on texts written for it here: precision before recall."""

from __future__ import annotations

import time

import pytest

from annotate.samples.abstention import is_abstention

ABSTAINS = [
    "I don't have that information.",
    "I don't have that information",
    "I do not have enough information to answer this question.",
    "I’m sorry, but I don’t have access to that information.",
    "Sorry, I don't know.",
    "I don't know the answer to that question.",
    "I don't know how the fee is calculated.",
    "I do not know based on the provided context.",
    "I'm sorry, but I cannot answer that question based on the provided documents.",
    "Unfortunately, I cannot find any information about the warranty in the provided context.",
    "I couldn't find an answer to your question. Please contact support for help.",
    "I could not find any mention of a refund deadline in the retrieved passages.",
    "I am unable to determine whether the Hub supports Zigbee.",
    "I'm not able to provide that information.",
    "I can't help with that.",
    "I cannot provide medical advice. Please consult a doctor.",
    "The provided context does not mention the price of the device.",
    "The context doesn't contain information about the opening hours [1][2].",
    "The provided documents do not specify when the office closes.",
    "Based on the provided context, there is no information about parking.",
    "Based on the given passages, I cannot determine who signed the contract.",
    "There is no information available to answer this question.",
    "There is not enough information in the provided documents to answer.",
    "Not enough information.",
    "No relevant information found.",
    "No information was found in the knowledge base.",
    "That information is not available.",
    "This question cannot be answered with the information provided.",
    "The answer is not contained in the provided text.",
    "It cannot be determined from the given context.",
    "It is not mentioned in the provided documents.",
    "Unanswerable.",
    "I have no idea.",
    "I'm not sure about that.",
    "I apologize, but I don't have specific details about the 2023 tariff. Could you provide more context?",
    "Thank you for your question. Unfortunately, the search results do not include information on that topic.",
    "As an AI assistant, I don't have access to that data.",
    "I don't have any information about your order. Is there anything else I can help you with?",
    "**I'm sorry, I don't have that information.**",
    "我不知道。",
    "抱歉，我不知道这个问题的答案。",
    "很抱歉，我没有相关信息。",
    "我没有找到相关信息。",
    "我无法回答这个问题。",
    "对不起，我无法根据提供的资料回答您的问题。",
    "根据提供的上下文，无法确定保修期是多久。",
    "上下文中没有提到价格。",
    "提供的文档中没有关于退款的信息。",
    "现有资料未提及营业时间【1】。",
    "根据现有资料，没有足够的信息来回答这个问题。",
    "知识库中未找到相关内容。",
    "未找到相关信息。",
    "该问题无法从上下文中得到回答。",
    "抱歉，我没有这方面的信息。请联系客服。",
    "目前没有关于该型号的资料。",
    "我不清楚设备是否支持该协议。",
    "信息不足，无法回答。",
    "非常抱歉，检索结果中没有包含相关内容。如需帮助，请联系客服。",
]

ANSWERS = [
    "The policy doesn't have that information requirement.",
    "I don't know of any limit: it is 30 days.",
    "I don't know of any limit.",
    "I don't have that information, but the manual says that it takes two days.",
    "The context does not mention a price; however, the device costs 30 euros.",
    "I don't have information about refunds, which take 30 days.",
    "I don't have details because the plan was cancelled in May.",
    "I cannot find the price, but shipping is free.",
    "I can't recommend using it outdoors.",
    "I cannot stress this enough.",
    "You can't provide more information after submitting the form.",
    "No.",
    "No information is required to open an account.",
    "No details are stored on the device.",
    "There is no information desk on the second floor.",
    "There is no data on the disk after a reset.",
    "There is no answer key in the box.",
    "The contract does not include a warranty.",
    "The document does not require a signature.",
    "The device does not provide enough power.",
    "The information provided does help: press the button for five seconds.",
    "Information is not shared with third parties.",
    "This information is not available to unauthorised staff, only to admins.",
    "It is not possible to return opened items.",
    "It is not clear when full: empty it every week.",
    "The answer is not 42.",
    "If you don't know the answer, leave the field empty.",
    "The form asks for details that I don't have.",
    "Staff who say “I don't have that information” must call a supervisor.",
    "I don't have that information. It is 30 days.",
    "I don't know the exact date. The office opens at nine.",
    "Sorry about that. Restart the Hub and wait a minute.",
    "Please contact support.",
    "You can contact support for help.",
    "I'm not sure-footed.",
    "I have no information policy; we store nothing.",
    "We don't have access to that data under the contract.",
    "The user does not have sufficient permission.",
    "Context menus don't include that option.",
    "Your sources don't have to be cited, since the form has no such field.",
    "I cannot answer for the vendor, who charges 5 %.",
    "Unfortunately, the offer ended on Monday.",
    "Not available on Sundays.",
    "The knowledge base is updated daily.",
    "",
    "42",
    "保单没有该信息要求。",
    "我不知道有任何限制：期限是30天。",
    "我不知道有任何限制。",
    "本产品没有信息泄露风险。",
    "没有资料费。",
    "抱歉，我没有相关信息，但手册说需要两天。",
    "上下文没有提到价格，不过运费是免费的。",
    "我没有找到价格。运费是免费的。",
    "无法使用该功能时请重启设备。",
    "如果不知道答案，请留空。",
    "该设备不能提供足够的电力。",
    "文件不需要签名。",
    "用户没有足够的权限。",
    "请联系客服。",
    "信息不会提供给第三方。",
    "退货期限未满时无法确定费用，其中运费为10元。",
    "他说“我不知道”，然后离开了。",
    "没有。",
]


# Written after the rule was finished, and never used to change it.
HELD_OUT_ABSTAINS = [
    "I'm afraid I don't have an answer to that.",
    "Sorry, I couldn't find anything about this in the documents you provided.",
    "The retrieved passages do not say how long delivery takes.",
    "I do not have sufficient context to answer.",
    "None of the provided documents mentions a discount for students.",
    "I don't have details regarding your contract. Please reach out to customer service.",
    "There isn't enough information in the context to say who is liable.",
    "Unfortunately, I don't know whether that is covered.",
    "I can't determine that from the given information.",
    "The context provided does not include the dosage for children.",
    "No answer was found in the knowledge base.",
    "I am not sure.",
    "很遗憾，我目前没有这方面的资料。",
    "提供的上下文没有说明由谁负责。",
    "对不起，我不清楚。",
    "根据现有资料无法判断。",
    "我在知识库中没有找到与该问题相关的内容。",
    "文档里没有写。",
]
HELD_OUT_ANSWERS = [
    "Children under six don't have to pay.",
    "The provided charger does not include a cable.",
    "I don't have to tell you that it is forbidden.",
    "No answer within ten days counts as consent.",
    "The information desk cannot answer calls after six.",
    "You don't have enough information on the label; add the batch number.",
    "There is not enough water in the tank when the light is red.",
    "The retrieved parcel can't be returned.",
    "Sources don't need to be declared below 500 euros.",
    "I'm sorry to hear that. Reset the password under Settings.",
    "It cannot be determined by the employee alone.",
    "The answer is not provided orally but in writing.",
    "没有足够的空间时不要安装。",
    "资料不足的申请将被退回。",
    "未说明理由也可以退货。",
    "不知道密码的用户可以点击忘记密码。",
    "提供的充电器没有包含数据线。",
    "此信息无法更改。",
]


@pytest.mark.parametrize(
    ("abstains", "answers", "recall"),
    [(ABSTAINS, ANSWERS, 1.0), (HELD_OUT_ABSTAINS, HELD_OUT_ANSWERS, 0.72)],
    ids=["written with the rule", "held out"],
)
def test_precision_and_recall_on_our_own_texts(abstains: list[str], answers: list[str], recall: float) -> None:
    assert [text for text in answers if is_abstention(text)] == []
    missed = [text for text in abstains if not is_abstention(text)]
    assert round(1 - len(missed) / len(abstains), 2) == recall, missed


@pytest.mark.parametrize("text", ABSTAINS[:6])
def test_a_refusal_among_statements_is_an_answer(text: str) -> None:
    assert is_abstention(text)
    assert not is_abstention(f"{text} The desk opens at nine.")
    assert not is_abstention(f"The desk opens at nine. {text}")
    assert not is_abstention(text + " " * 600 + "It opens at nine.")


@pytest.mark.parametrize(
    "text",
    [
        "sorry " * 100,
        "sorry, but " * 54,
        "i'm sorry, " * 50 + "no",
        "i don't have any " + "the " * 145,
        "there is no information " + "in the context " * 38 + ";",
        "the provided context provided " * 20,
        "no " * 200,
        "关于" * 300,
        "我没有" + "关于a的" * 140,
        "的资料" * 200,
        # Phrases that can be read in more than one way.
        "it seems that " * 20 + "xx",
        "in retrieved documents i have " * 10 + ";",
        "根据所提供资料" * 21 + "xx",
        "我们不能" + "从所提供的资料" * 21 + "xx",
    ],
)
def test_a_hostile_answer_is_read_in_no_time(text: str) -> None:
    before = time.process_time()
    assert not is_abstention(text[:600])
    assert time.process_time() - before < 0.2
