from django.urls import path

from judges.api import views

P = "projects/<slug:slug>/"

urlpatterns = [
    path(P + "criteria/<slug:key>/agreement/", views.AgreementView.as_view()),
    path(P + "criteria/<slug:key>/alignment/", views.AlignmentView.as_view()),
    path(P + "criteria/<slug:key>/report/", views.ReportStateView.as_view()),
    path(P + "judges/", views.JudgesView.as_view()),
    path(P + "judges/<int:judge_id>/", views.JudgeView.as_view()),
    path(P + "reports/", views.ReportsView.as_view()),
    path(P + "reports/<int:number>/", views.ReportView.as_view()),
    path(P + "reports/<int:number>/download.html", views.ReportFileView.as_view(), name="report-file"),
]
