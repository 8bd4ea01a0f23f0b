from django.urls import path

from judges.api import canaries, certificates, draws, judges, lab, runs
from judges.api.judges import EndpointsView, EndpointTrialView, EndpointView
from judges.api.reports import AgreementView, AlignmentView, ReportBundleView, ReportStateView, ReportsView, ReportView
from judges.api.runs import (
    ProposalsView,
    ProposeEstimateView,
    ProposeView,
    RunFailuresView,
    RunScoresView,
    TakeOverView,
    VersionScoresView,
)

P = "projects/<slug:slug>/"

urlpatterns = [
    path(P + "criteria/<slug:key>/agreement/", AgreementView.as_view()),
    path(P + "criteria/<slug:key>/alignment/", AlignmentView.as_view()),
    path(P + "criteria/<slug:key>/report/", ReportStateView.as_view()),
    path(P + "criteria/<slug:key>/draws/", draws.DrawsView.as_view()),
    path(P + "criteria/<slug:key>/draws/batch/", draws.DrawBatchView.as_view()),
    path(P + "looks/", certificates.LooksView.as_view()),
    path(P + "certificates/", certificates.CertificatesView.as_view()),
    path(P + "gate/", certificates.GateView.as_view()),
    path(P + "apply/", certificates.ApplyView.as_view()),
    path(P + "judge-kinds/", judges.JudgeKindsView.as_view()),
    path(P + "judges/", judges.JudgesView.as_view()),
    path(P + "judges/<int:judge_id>/", judges.JudgeView.as_view()),
    path(P + "judges/<int:judge_id>/versions/", judges.JudgeVersionsView.as_view()),
    path(P + "judges/<int:judge_id>/versions/diff/", judges.JudgeDiffView.as_view()),
    path(P + "judges/<int:judge_id>/versions/<int:number>/", judges.JudgeVersionView.as_view()),
    path(P + "judges/<int:judge_id>/versions/<int:number>/keep/", judges.JudgeVersionKeepView.as_view()),
    path(P + "judges/<int:judge_id>/versions/<int:number>/drop/", judges.JudgeVersionDropView.as_view()),
    path(P + "judges/<int:judge_id>/versions/<int:number>/scores/", VersionScoresView.as_view()),
    path(P + "judges/<int:judge_id>/runs/", runs.JudgeRunsView.as_view()),
    path(P + "judges/<int:judge_id>/runs/estimate/", runs.RunEstimateView.as_view()),
    path(P + "judges/<int:judge_id>/canaries/", canaries.CanariesView.as_view()),
    path(P + "judges/<int:judge_id>/canaries/estimate/", canaries.CanaryEstimateView.as_view()),
    path(P + "judges/<int:judge_id>/canaries/<int:run_id>/", canaries.CanaryCheckView.as_view()),
    path(P + "judges/<int:judge_id>/canaries/<int:run_id>/flips/", canaries.CanaryFlipsView.as_view()),
    path(P + "judges/<int:judge_id>/claims/", ProposeView.as_view()),
    path(P + "judges/<int:judge_id>/claims/estimate/", ProposeEstimateView.as_view()),
    path(P + "judges/<int:judge_id>/trials/", lab.TrialsView.as_view()),
    path(P + "judges/<int:judge_id>/trials/<int:trial_id>/", lab.TrialView.as_view()),
    path(P + "judges/<int:judge_id>/trials/<int:trial_id>/keep/", lab.TrialKeepView.as_view()),
    path(P + "judges/<int:judge_id>/trials/<int:trial_id>/drop/", lab.TrialDropView.as_view()),
    path(P + "runs/", runs.RunsView.as_view()),
    path(P + "runs/<int:run_id>/", runs.RunView.as_view()),
    path(P + "runs/<int:run_id>/pause/", runs.RunPauseView.as_view()),
    path(P + "runs/<int:run_id>/resume/", runs.RunResumeView.as_view()),
    path(P + "runs/<int:run_id>/cancel/", runs.RunCancelView.as_view()),
    path(P + "runs/<int:run_id>/failures/", RunFailuresView.as_view()),
    path(P + "runs/<int:run_id>/claims/", ProposalsView.as_view()),
    path(P + "runs/<int:run_id>/claims/take-over/", TakeOverView.as_view()),
    path(P + "runs/<int:run_id>/scores/", RunScoresView.as_view()),
    path(P + "endpoints/", EndpointsView.as_view()),
    path(P + "endpoints/<slug:name>/", EndpointView.as_view()),
    path(P + "endpoints/<slug:name>/try/", EndpointTrialView.as_view()),
    path(P + "reports/", ReportsView.as_view()),
    path(P + "reports/<int:number>/", ReportView.as_view()),
    path(P + "reports/<int:number>/download.zip", ReportBundleView.as_view()),
]
