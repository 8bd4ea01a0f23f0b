"""Known answers, and how annotators did against them and against themselves."""

from __future__ import annotations

from dataclasses import asdict

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from annotate.api import campaign_shapes as shapes
from annotate.api import schema as shape
from annotate.api.base import Pages, ProjectAPIView, body, json_body
from annotate.errors import Invalid
from annotate.selectors.gold import answer_as_dict, known_answers, to_set_again
from annotate.selectors.projects import one_batch, one_criterion
from annotate.selectors.quality import gold_accuracy, self_consistency
from annotate.services.gold import gold_from_verdicts, import_gold, remove_gold


class GoldView(ProjectAPIView):
    actions = {"GET": "gold.read", "POST": "gold.change"}
    params = Pages.params | {"to_set_again"}

    @shape.describes(
        shapes.GoldPage,
        params=[*shape.PAGE, OpenApiParameter("to_set_again", description="true: those that a change touched.")],
    )
    def get(self, request: Request, slug: str) -> Response:
        """The known answers, by sample.

        Those to the criteria as they are now. `to_set_again=true`: those to earlier versions that a change of the
        criterion touched; set them again, or take them back.
        """
        again = request.query_params.get("to_set_again", "false")
        if again not in ("true", "false"):
            raise Invalid("bad_to_set_again", "to_set_again: write true or false.")
        pages = Pages()
        found = to_set_again(self.project) if again == "true" else known_answers(self.project)
        rows = pages.paginate_queryset(found, request)
        return pages.get_paginated_response([answer_as_dict(answer) for answer in rows or []])

    @shape.describes(shapes.GoldChanged, request=shapes.GoldRow(many=True))
    def post(self, request: Request, slug: str) -> Response:
        """Sets known answers, from a list or a JSON file with one.

        All of them or none: `problems` says what is wrong with which row. An answer that is there already is changed.
        `changed` counts those that are new or different.
        """
        rows = json_body(request, or_file=True)
        return Response({"changed": import_gold(actor=self.user, project=self.project, rows=rows)})


class GoldDrawView(ProjectAPIView):
    actions = {"POST": "gold.change"}

    @shape.describes(shapes.Gold(many=True), request=shapes.GoldDrawing)
    def post(self, request: Request, slug: str) -> Response:
        """Draws known answers from verdicts.

        From units of a criterion that a reviewer decided, or on which all agreed, and that have none yet.
        """
        data = body(request, {"criterion", "n", "seed"}, required={"criterion", "n"})
        criterion = one_criterion(self.project, str(data["criterion"]))
        answers = gold_from_verdicts(
            actor=self.user, project=self.project, criterion=criterion, n=data["n"], seed=data.get("seed")
        )
        return Response([answer_as_dict(answer) for answer in answers])


class GoldAnswerView(ProjectAPIView):
    actions = {"DELETE": "gold.change"}

    @shape.describes()
    def delete(self, request: Request, slug: str, gold_id: int) -> Response:
        """Takes a known answer back.

        Tasks that were given because of it stay; nobody is measured by it any more.
        """
        remove_gold(actor=self.user, project=self.project, gold_id=gold_id)
        return Response(status=204)


class BatchQualityView(ProjectAPIView):
    actions = {"GET": "batches.read"}

    @shape.describes(shapes.BatchQuality)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """How well annotators did in a batch: against known answers, and against themselves.

        Each figure with its interval, or with the reason why there is none.
        """
        batch = one_batch(self.project, number)
        return Response(
            {
                "gold": [asdict(row) for row in gold_accuracy(batch)],
                "repeats": [asdict(row) for row in self_consistency(batch)],
            }
        )
