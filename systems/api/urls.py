from django.urls import path

from systems.api import bands, diagnosis, experiments, gate, questions, responses, retrieval, targets

P = "projects/<slug:slug>/"

urlpatterns = [
    path(P + "questions/", questions.QuestionsView.as_view()),
    path(P + "questions/<int:question_id>/", questions.QuestionView.as_view()),
    path(P + "questions/unlinked/", responses.UnlinkedView.as_view()),
    path(P + "question-sets/", questions.SetsView.as_view()),
    path(P + "question-sets/<slug:set_name>/", questions.SetView.as_view()),
    path(P + "question-sets/<slug:set_name>/freeze/", questions.FreezeView.as_view()),
    path(P + "question-sets/<slug:set_name>/<int:number>/", questions.FrozenView.as_view()),
    path(P + "versions/", responses.VersionsView.as_view()),
    path(P + "versions/<int:version_id>/", responses.VersionView.as_view()),
    path(P + "versions/<int:version_id>/target/", targets.VersionTargetView.as_view()),
    path(P + "versions/<int:version_id>/target/try/", targets.TargetTrialView.as_view()),
    path(P + "target/", targets.TargetView.as_view()),
    path(P + "target-runs/", targets.TargetRunsView.as_view()),
    path(P + "target-runs/<int:asking_id>/", targets.TargetRunView.as_view()),
    path(P + "target-runs/<int:asking_id>/job/", targets.TargetRunJobView.as_view()),
    path(P + "target-runs/<int:asking_id>/pause/", targets.TargetRunPauseView.as_view()),
    path(P + "target-runs/<int:asking_id>/resume/", targets.TargetRunResumeView.as_view()),
    path(P + "target-runs/<int:asking_id>/cancel/", targets.TargetRunCancelView.as_view()),
    path(P + "target-runs/<int:asking_id>/failures/", targets.TargetFailuresView.as_view()),
    path(P + "diagnosis/", diagnosis.DiagnosisView.as_view()),
    path(P + "diagnosis/responses/", diagnosis.DiagnosedView.as_view()),
    path(P + "diagnosis/mapping/", diagnosis.DiagnosisMappingView.as_view()),
    path(P + "bands/", bands.BandsView.as_view()),
    path(P + "responses/", responses.ResponsesView.as_view()),
    path(P + "experiments/", experiments.ExperimentsView.as_view()),
    path(P + "experiments/<slug:experiment_name>/", experiments.ExperimentView.as_view()),
    path(P + "experiments/<slug:experiment_name>/draw/", experiments.ExperimentDrawView.as_view()),
    path(P + "experiments/<slug:experiment_name>/figures/", experiments.ExperimentFiguresView.as_view()),
    path(P + "trend/", experiments.TrendView.as_view()),
    path(P + "retrieval/", retrieval.RetrievalView.as_view()),
    path(P + "retrieval/pool/", retrieval.PoolView.as_view()),
    path(P + "retrieval/conflicts/", retrieval.ConflictsView.as_view()),
    path(P + "experiments/<slug:experiment_name>/gate/", gate.SystemsGateView.as_view()),
]
