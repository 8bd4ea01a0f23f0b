from django.urls import path

from judges.api import certificates, draws, endpoints, judges, runs, scores, views

P = "projects/<slug:slug>/"

urlpatterns = [
    path(P + "criteria/<slug:key>/agreement/", views.AgreementView.as_view()),
    path(P + "criteria/<slug:key>/alignment/", views.AlignmentView.as_view()),
    path(P + "criteria/<slug:key>/report/", views.ReportStateView.as_view()),
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
    path(P + "judges/<int:judge_id>/versions/<int:number>/scores/", scores.VersionScoresView.as_view()),
    path(P + "judges/<int:judge_id>/runs/", runs.JudgeRunsView.as_view()),
    path(P + "judges/<int:judge_id>/runs/estimate/", runs.RunEstimateView.as_view()),
    path(P + "runs/", runs.RunsView.as_view()),
    path(P + "runs/<int:run_id>/", runs.RunView.as_view()),
    path(P + "runs/<int:run_id>/pause/", runs.RunPauseView.as_view()),
    path(P + "runs/<int:run_id>/resume/", runs.RunResumeView.as_view()),
    path(P + "runs/<int:run_id>/cancel/", runs.RunCancelView.as_view()),
    path(P + "runs/<int:run_id>/failures/", scores.RunFailuresView.as_view()),
    path(P + "runs/<int:run_id>/scores/", scores.RunScoresView.as_view()),
    path(P + "endpoints/", endpoints.EndpointsView.as_view()),
    path(P + "endpoints/<slug:name>/", endpoints.EndpointView.as_view()),
    path(P + "endpoints/<slug:name>/try/", endpoints.EndpointTrialView.as_view()),
    path(P + "reports/", views.ReportsView.as_view()),
    path(P + "reports/<int:number>/", views.ReportView.as_view()),
    path(P + "reports/<int:number>/download.html", views.ReportFileView.as_view(), name="report-file"),
    path(P + "reports/<int:number>/download.zip", views.ReportBundleView.as_view()),
]
