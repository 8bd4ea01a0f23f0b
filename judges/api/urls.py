from django.urls import path

from judges.api import certificates, draws, endpoints, lab, views

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
    path(P + "endpoints/", endpoints.EndpointsView.as_view()),
    path(P + "endpoints/<slug:name>/", endpoints.EndpointView.as_view()),
    path(P + "endpoints/<slug:name>/try/", endpoints.EndpointTrialView.as_view()),
    path(P + "judges/", views.JudgesView.as_view()),
    path(P + "judges/<int:judge_id>/", views.JudgeView.as_view()),
    path(P + "judges/<int:judge_id>/trials/", lab.TrialsView.as_view()),
    path(P + "judges/<int:judge_id>/trials/<int:trial_id>/", lab.TrialView.as_view()),
    path(P + "judges/<int:judge_id>/trials/<int:trial_id>/keep/", lab.TrialKeepView.as_view()),
    path(P + "judges/<int:judge_id>/trials/<int:trial_id>/drop/", lab.TrialDropView.as_view()),
    path(P + "reports/", views.ReportsView.as_view()),
    path(P + "reports/<int:number>/", views.ReportView.as_view()),
    path(P + "reports/<int:number>/download.html", views.ReportFileView.as_view(), name="report-file"),
    path(P + "reports/<int:number>/download.zip", views.ReportBundleView.as_view()),
]
