from django.urls import path, re_path

from annotate.api import adjudication, batches, imports, invites, projects, releases, tokens, work

P = "projects/<slug:slug>/"

urlpatterns = [
    # First: routes are tried in this order, and every decision of every annotator takes these.
    path("tasks/<int:task_id>/labels/", work.TaskLabelsView.as_view()),
    path("tasks/<int:task_id>/submit/", work.TaskSubmitView.as_view()),
    path("tasks/<int:task_id>/skip/", work.TaskSkipView.as_view()),
    path("tasks/<int:task_id>/", work.TaskView.as_view()),
    path("tokens/", tokens.TokensView.as_view()),
    path("tokens/<str:token_id>/", tokens.TokenView.as_view()),
    path("projects/", projects.ProjectsView.as_view()),
    path(P, projects.ProjectDetailView.as_view()),
    path(P + "criteria/", projects.CriteriaView.as_view()),
    path(P + "criteria/<slug:key>/settle/", batches.SettleView.as_view()),
    path(P + "members/", projects.MembersView.as_view()),
    path(P + "members/<str:username>/", projects.MemberView.as_view()),
    path(P + "invites/", invites.InvitesView.as_view()),
    path(P + "invites/<int:invite_id>/", invites.InviteView.as_view()),
    path(P + "samples/", projects.SamplesView.as_view()),
    path(P + "samples/<int:sample_id>/", projects.SampleView.as_view()),
    path(P + "batches/", batches.BatchesView.as_view()),
    path(P + "batches/<int:number>/", batches.BatchView.as_view()),
    re_path(
        r"^projects/(?P<slug>[-\w]+)/batches/(?P<number>[0-9]{1,9})/(?P<step>open|adjudicate|close|reopen)/$",
        batches.BatchStepView.as_view(),
    ),
    path(P + "disputes/", adjudication.DisputesView.as_view()),
    path(P + "disputes/<int:verdict_id>/", adjudication.DisputeView.as_view()),
    path(P + "work/", work.WorkView.as_view()),
    *imports.urlpatterns,
    *releases.urlpatterns,
]
