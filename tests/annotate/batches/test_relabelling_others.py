"""A criterion evolves: units that no annotator could tell, and labels made elsewhere. The rest: `test_relabelling`."""

from __future__ import annotations

from annotate.models import Label, Rater, Verdict
from tests.annotate.batches.test_relabelling import changed, evolve, said, support, without
from tests.annotate.factories import World, finish, make_sample


def test_a_unit_that_no_annotator_can_tell_stays_with_the_reviewers(world: World) -> None:
    sample = make_sample(world.project)
    batch = world.batch(criteria=["support"], annotators=[world.ann], overlap=1)
    finish(batch.tasks.get(), support="yes")
    Label.objects.filter(unit="claim:0").update(value=None, cant_tell="It is in Latin.")
    Verdict.objects.filter(unit="claim:0").update(value=None, state="disputed", method="", votes=[], confidence=None)
    evolve(world, changed(name="Backed"))
    carried = Verdict.objects.get(criterion__version=2, sample=sample, unit="claim:0")
    assert (carried.state, carried.votes) == ("disputed", [])
    assert Label.objects.get(criterion__version=2, unit="claim:0").cant_tell == "It is in Latin."


def test_labels_made_elsewhere_are_carried_too(world: World) -> None:
    sample = make_sample(world.project)
    raters = [Rater.objects.create(project=world.project, name=name) for name in ("Xi", "Yu")]
    for rater, value in zip(raters, ("yes", "unsure"), strict=True):
        Label.objects.create(rater=rater, sample=sample, unit="claim:0", criterion=support(world), value=value)
    done = evolve(world, without("unsure"))
    assert (done.carried, done.asked, done.left, done.batch) == (1, 0, 1, None)
    assert said(support(world, 2)) == {("Xi", "s1", "claim:0", "yes")}
