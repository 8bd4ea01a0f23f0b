"""Whether an answer abstains: says nothing but that it has no answer ("I don't have that information").

A proposal, made when a sample comes in; people may decide otherwise (annotate.samples.abstaining). It is to be precise
rather than complete, since an abstention has no claims to label: every sentence has to be a refusal, or a courtesy
beside one. An answer that refuses one thing and states another stays an answer. English and Chinese; a text in another
language is never an abstention by this rule. How well it does is measured in tests/annotate/samples/test_abstention.py.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from annotate.core.spans import without_citations

# A refusal is short; whatever is longer says something.
LONGEST = 600
# Of phrases that can be read in several ways: any number of them would take twice the time, or more, with each one.
_FEW = "{0,6}"

# What an answer was made from. The second kind names it only together with a word such as "provided".
_SOURCE = "(?:contexts?|passages?|excerpts?|sources?|search results|knowledge base|retrieved documents)"
_GIVEN = "(?:provided|given|available|retrieved|supplied|above|attached)"
_GIVEN_TEXT = (
    f"(?:{_GIVEN} (?:documents?|documentation|information|texts?|articles?|materials?|content|data)"
    f"|(?:documents?|information|texts?|articles?|materials?|content) (?:{_GIVEN}|i (?:have|was given)))"
)
_THE = "(?:the |these |this |my |our |any of the |your )?"
_FROM = f"{_THE}(?:{_GIVEN} )?(?:{_SOURCE}|{_GIVEN_TEXT})(?: {_GIVEN}| i (?:have|was given)| you (?:provided|gave me))?"
_KNOWN = "(?:information|info|details|answer|data|knowledge|documentation)"
_ANY = "(?:(?:any|enough|sufficient|the|that|this|an|a|specific|relevant|more|further|such|additional|requested) )*"
_ASKED = "(?:how|what|when|where|which|who|whom|whose|whether|if|why)"
_NOT = "(?:do not|don't|does not|doesn't|did not|didn't)"
_CANNOT = (
    "(?:cannot|can't|can not|could not|couldn't|am unable to|'m unable to|am not able to|'m not able to|was unable to)"
)
_CLEARLY = "(?:(?:currently|explicitly|specifically|directly|actually|seem to|appear to|unfortunately|really) )*"
_ABOUT = "(?:about|on|regarding|concerning|for|to|related to|in|within|from|available|that|based on|at this time)"
# "I don't have that information requirement" goes on in another way.
_REST = f"(?:(?:,? {_ABOUT}\\b.*)?)"
_THAT = "(?:that|this|it|(?:that|this|your|the) (?:question|query|request|topic|answer))"

_REFUSALS_EN = (
    f"i {_CLEARLY}{_NOT} {_CLEARLY}have (?:access to )?{_ANY}{_KNOWN}{_REST}",
    f"i {_CLEARLY}{_NOT} {_CLEARLY}have (?:enough|sufficient) (?:context|evidence){_REST}",
    f"i have no (?:idea|(?:relevant |specific )?{_KNOWN}){_REST}",
    f"i {_NOT} {_CLEARLY}know(?: {_THAT}| the answer to .*| about {_THAT}| {_ASKED}\\b.*| based on .*)?",
    f"i(?:'m| am) not (?:sure|certain)(?: (?:about )?{_THAT}| {_ASKED}\\b.*)?",
    f"i ?{_CANNOT} {_CLEARLY}(?:find|locate|see) {_ANY}(?:{_KNOWN}|mention|anything){_REST}(?: of .*)?",
    (
        f"i ?{_CANNOT} {_CLEARLY}(?:provide|give)(?: you(?: with)?)? {_ANY}(?:{_KNOWN}|response|(?:medical|legal"
        f"|financial) advice)?{_REST}"
    ),
    f"i ?{_CANNOT} {_CLEARLY}answer(?: {_THAT})?(?: (?:based on|from|with|using|given|in) .*)?",
    f"i ?{_CANNOT} {_CLEARLY}(?:determine|tell(?: you)?|say|confirm|verify)(?: {_THAT}| {_ASKED}\\b.*)?{_REST}",
    f"i ?{_CANNOT} {_CLEARLY}(?:help|assist)(?: you)?(?: with (?:{_THAT}|your .*))?",
    (
        f"{_FROM} {_NOT} {_CLEARLY}(?:contain|include|provide|mention|specify|state|say|have|address|cover"
        f"|answer|give|discuss"
        "|indicate|describe)(?: .*)?"
    ),
    (
        f"(?:based on|according to|from|given|in|within) {_FROM},? there(?:'s| is| are| was) (?:no|not enough"
        f"|insufficient) "
        f"{_ANY}{_KNOWN}{_REST}"
    ),
    (
        f"there(?:'s| is| are| was) (?:no|not enough|not any|insufficient) {_ANY}{_KNOWN}(?: .*)? (?:in|within"
        f"|from) {_FROM}(?: .*)?"
    ),
    (
        f"there(?:'s| is| are| was) (?:no|not enough|not any|insufficient) {_ANY}{_KNOWN}"
        f"(?: (?:available|provided|given)| (?:about|on|regarding) {_THAT})?(?: to answer .*)?"
    ),
    (
        f"(?:no|not enough|insufficient) {_ANY}(?:{_KNOWN}|context|results?)"
        "(?: (?:was |were |is |are |could be )?(?:found|available|provided|given)(?: .*)?| to answer(?: .*)?)?"
    ),
    (
        f"(?:that|this|the requested|such) {_KNOWN} (?:is|was|are) (?:not|n't|un)\\s?(?:currently )?"
        f"(?:available|provided|included|found|mentioned|given|specified)(?: (?:to me|in {_FROM}|at this time))?"
    ),
    "(?:this|that|the|your) (?:question|query) (?:cannot|can't|can not|could not) be answered(?: .*)?",
    (
        f"(?:it|this|that|the answer) (?:cannot|can't|could not) be (?:determined|answered|found|known)"
        f"(?: (?:from|based on|with|in|using) {_FROM}.*)?"
    ),
    (
        f"it is(?: not|n't) (?:possible to (?:answer|determine|say|tell)|(?:mentioned|specified|stated|clear"
        f"|provided))\\b.* "
        f"(?:in|from|based on|with|given) {_FROM}(?: .*)?"
    ),
    (
        f"(?:it is |the answer is )?(?:not|un) ?(?:mentioned|specified|stated|found|provided|available|clear"
        f"|answered|given)"
        f"(?: (?:in|from|by) {_FROM})?"
    ),
    (
        f"the answer (?:is not|isn't|is nowhere|was not) (?:available|provided|found|given|contained|stated"
        f"|mentioned|in)"
        f"(?: (?:in )?{_FROM})?(?: .*)?"
    ),
    "(?:unanswerable|no answer|cannot answer|can't answer|idk)",
)
_FILLER_EN = (
    "(?:(?:i'm (?:really |very |so )?sorry|i am (?:really |very )?sorry|sorry|i apologi[sz]e|my apologies|apologies"
    "|unfortunately|regrettably|hello|hi|thank you for (?:your question|asking)|thanks for asking|it (?:seems"
    "|appears|looks like)"
    f"(?: that)?|as an ai (?:language model|assistant)|(?:based on|according to|from|given|in|within) {_FROM})"
    f"(?:[,.!:;]| -| –| —)*\\s*(?:but |that )?){_FEW}"
)
_CONTRAST_EN = re.compile(
    "[:;]|\\b(?:but|however|which|although|though|except|other than|besides|instead|because|since|still"
    "|nevertheless|yet"
    "|while|whereas|apart from|aside from|only that|(?<=\\w[ ,])it (?:is|was|does|takes|costs))\\b"
)
_COURTESY_EN = re.compile(
    "(?:please|you (?:may|can|could|might)|i(?:'d| would)? (?:recommend|suggest|advise)|feel free|if you"
    "|let me know|could you"
    "|can you|is there|would you|for (?:more|further)|try|kindly|consider|contact|i(?:'d| would) be happy|how else)\\b"
    "(?=.*\\b(?:contact|reach out|consult|check|refer|visit|ask|rephras\\w*|provide|clarify|details|context|let me know"
    "|anything else|assist|help|see|try|look)\\b)[^0-9:;]{1,200}"
    "|thank you for (?:your question|asking)|(?:i'm|i am) (?:very |really )?sorry(?: about that)?|sorry"
    "|apologies|my apologies|unfortunately"
)
_REFUSAL_EN = re.compile(f"{_FILLER_EN}(?:{'|'.join(_REFUSALS_EN)})")

_SOURCE_ZH = "(?:上下文|知识库|段落|检索结果|参考资料|背景资料)"
_GIVEN_ZH = "(?:所?提供|给定|给出|检索到?|现有|已有|以上|上述|当前|目前|已知|可用)"
_FROM_ZH = (
    f"(?:您|你|我|这些|该|所)?(?:{_GIVEN_ZH}的?)*(?:{_SOURCE_ZH}|(?<=供)(?:资料|文档|文件|材料|信息|内容|文本)"
    "|(?<=[的有述上定到知前])(?:资料|文档|文件|材料|信息|内容|文本))(?:信息|内容)?"
)
_KNOWN_ZH = "(?:信息|资料|内容|答案|数据|说明|依据|细节|结果|记录)"
_ANY_ZH = (
    "(?:足够的?|充分的?|相关的?|有关的?|任何|具体的?|更多的?|这方面的?|该|此|这个|这些|这一|您要的|"
    "(?:与|和|关于|有关)(?:[^,的]{1,30}的){1,3}){0,4}"
)
_THAT_ZH = "(?:(?:这个|该|此|这一|您的|你的|这|那)?(?:问题|情况|信息|内容)?(?:的答案)?|答案)"
_ASKED_ZH = "(?:[^,]{0,20}(?:如何|怎么|什么|是否|哪|谁|为什么|何时|多少|多久|多长|多大|几))[^,]*"
_NOW_ZH = "(?:目前|暂时|现在|还|暂|并|实在|真的|也)*"
_FOR_ZH = "(?:(?:可以|可供|可|来|能够|能|以|用于|用来)?(?:回答|确定|支持|说明|判断|提供|解答)[^,]*)?"
_REFUSALS_ZH = (
    f"我?们?{_NOW_ZH}(?:不知道|不清楚|不了解|不确定)(?:{_THAT_ZH}|{_ASKED_ZH})",
    (
        f"我?们?{_NOW_ZH}(?:无法|不能|没办法|没法)(?:为您|给您|向您|帮您|根据{_FROM_ZH}|从{_FROM_ZH}(?:中|里)?"
        f"|直接|准确){_FEW}"
        f"(?:回答|解答|作答|确定|确认|得知|判断|获知|得出|提供|给出|找到|查到|帮助您?|协助您?)"
        f"(?:{_THAT_ZH}|{_ANY_ZH}{_KNOWN_ZH}|{_ASKED_ZH}|{_ANY_ZH}帮助)"
    ),
    (
        f"我?们?{_NOW_ZH}(?:没有|没|未能?|未曾)(?:在{_FROM_ZH}(?:中|里|内)?)?(?:找到|查到|检索到|获得|掌握|看到"
        f"|有)?{_ANY_ZH}{_KNOWN_ZH}{_FOR_ZH}"
    ),
    (
        f"(?:在|从)?{_FROM_ZH}(?:中|里|内)?(?:并|都|也|均|似乎)?(?:没有|未|并未|未曾|不|没)(?:明确|具体|直接|详细|有)*"
        f"(?:提及|提到|说明|包含|包括|提供|涉及|给出|回答|记载|描述|指出|显示|找到|足够|相关|关于)[^,]*"
    ),
    (
        f"(?:该|此|这个|您的|你的|这)问题{_NOW_ZH}(?:无法|不能)(?:从{_FROM_ZH}(?:中|里)?|根据{_FROM_ZH})?(?:得到)?"
        f"(?:回答|解答|答案)"
    ),
    f"(?:信息|资料|上下文)(?:不足|不够)(?:[, ]*(?:无法|不能)(?:回答|确定|判断){_THAT_ZH})?",
    "(?:无法回答|没有答案|无答案|未找到|未提及|未说明|不详)",
)
_FILLER_ZH = (
    "(?:(?:我?(?:很|非常|十分|真的)?(?:抱歉|遗憾|对不起|不好意思|感谢您的提问|您好|你好)"
    f"|(?:根据|基于|从|就|在|依据|按照){_FROM_ZH}(?:中|里|内|来看|而言)?)[,。!: ]*(?:但是?|地告诉您)?){_FEW}"
)
_CONTRAST_ZH = re.compile("[:;]|但|不过|然而|因为|由于|除非|除了|只是|其中|仅")
_COURTESY_ZH = re.compile(
    "(?:请|您可以|你可以|建议|如果您?|如需|如有|若|欢迎|希望|谢谢|感谢|还有)"
    "(?=.*(?:联系|咨询|查阅|查看|提供|补充|告诉|询问|参考|访问|其他|帮|谅解|理解|重新))[^0-9:;]{1,120}"
    "|(?:很|非常|十分)?(?:抱歉|对不起|遗憾|不好意思)"
)
_REFUSAL_ZH = re.compile(f"{_FILLER_ZH}(?:{'|'.join(_REFUSALS_ZH)})")

# A stop ends a sentence where a blank or nothing follows; those of Chinese always do. It begins with the signs that it
# can be, for which the text is looked through much faster than for alternatives.
_ENDS = re.compile("[.!?。\n](?:(?<=[.!?])\\s+|(?<=[!?])(?=[\u3400-\u9fff])|(?<=。)|(?<=\n)\n*)")
_HAN = re.compile("[\u3400-\u9fff]")


def is_abstention(answer: str) -> bool:
    """Whether all that the answer says is that it has no answer."""
    if len(answer) > LONGEST:
        return False
    refuses = False
    for sentence in _sentences(_plain(answer)):
        words = sentence.strip(" \t.!?。,*_\"'“”()[]>-")
        if not words:
            continue
        is_chinese = _HAN.search(words) is not None
        refusal, contrast, courtesy = (
            (_REFUSAL_ZH, _CONTRAST_ZH, _COURTESY_ZH) if is_chinese else (_REFUSAL_EN, _CONTRAST_EN, _COURTESY_EN)
        )
        found = refusal.fullmatch(words)
        if found and not contrast.search(_after_filler(words, is_chinese)):
            refuses = True
        elif not courtesy.fullmatch(words):
            return False
    return refuses


def _sentences(words: str) -> Iterator[str]:
    """One by one, without what ends them: of most answers the first one tells."""
    start = 0
    for end in _ENDS.finditer(words):
        yield words[start : end.start()]
        start = end.end()
    yield words[start:]


_FILLER = {True: re.compile(_FILLER_ZH), False: re.compile(_FILLER_EN)}


def _after_filler(words: str, is_chinese: bool) -> str:
    """Without "I'm sorry, but": that contrast is none."""
    found = _FILLER[is_chinese].match(words)
    return words[found.end() :] if found else words


_APOSTROPHES = str.maketrans(dict.fromkeys("’‘`´", "'"))


def _plain(answer: str) -> str:
    """Every sample of a file comes by here, so nothing is replaced where nothing is to be."""
    text = unicodedata.normalize("NFKC", without_citations(answer)).lower()
    if "  " in text or "\t" in text:
        text = re.sub("[ \t]+", " ", text)
    return text.translate(_APOSTROPHES).strip()
