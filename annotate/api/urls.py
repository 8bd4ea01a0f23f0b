from django.urls import path, re_path

from annotate.api import tasks
from annotate.api import tasks as work
from annotate.api.account import MeView, TokensView, TokenView
from annotate.api.batches import (
    BatchesView,
    BatchExtendView,
    BatchQualityView,
    BatchStepView,
    BatchView,
    GoldAnswerView,
    GoldDrawView,
    GoldView,
    SettleView,
)
from annotate.api.files import (
    ImportErrorsView,
    ImportPreviewView,
    ImportStartView,
    ImportsView,
    ImportView,
    ReleaseFileView,
    ReleasesView,
    ReleaseView,
)
from annotate.api.projects import (
    AuditView,
    CriteriaView,
    ImpactView,
    InvitesView,
    InviteView,
    MembersView,
    MemberView,
    ProjectDetailView,
    ProjectsView,
    RelabelView,
    VersionsView,
)
from annotate.api.samples import ClaimsView, PipelineVersionsView, SamplesView, SampleView
from annotate.api.tasks import FlagResolveView, FlagsView, TaskFlagView
from annotate.api.verdicts import (
    AcceptView,
    DisputeApproveView,
    DisputeReturnView,
    DisputesView,
    DisputeView,
    LessonsView,
)

P = "projects/<slug:slug>/"

urlpatterns = [
    # First: routes are tried in this order, and every decision of every annotator takes these.
    path("tasks/<int:task_id>/labels/", work.TaskLabelsView.as_view()),
    path("tasks/<int:task_id>/submit/", work.TaskSubmitView.as_view()),
    path("tasks/<int:task_id>/skip/", work.TaskSkipView.as_view()),
    path("tasks/<int:task_id>/reopen/", work.TaskReopenView.as_view()),
    path("tasks/<int:task_id>/flag/", TaskFlagView.as_view()),
    path("tasks/<int:task_id>/heartbeat/", work.TaskHeartbeatView.as_view()),
    path("tasks/<int:task_id>/", work.TaskView.as_view()),
    path("me/", MeView.as_view()),
    path("tokens/", TokensView.as_view()),
    path("tokens/<str:token_id>/", TokenView.as_view()),
    path("projects/", ProjectsView.as_view()),
    path(P, ProjectDetailView.as_view()),
    path(P + "criteria/", CriteriaView.as_view()),
    path(P + "criteria/<slug:key>/settle/", SettleView.as_view()),
    path(P + "members/", MembersView.as_view()),
    path(P + "members/<str:username>/", MemberView.as_view()),
    path(P + "invites/", InvitesView.as_view()),
    path(P + "invites/<int:invite_id>/", InviteView.as_view()),
    path(P + "samples/", SamplesView.as_view()),
    path(P + "samples/<int:sample_id>/", SampleView.as_view()),
    path(P + "samples/<int:sample_id>/claims/", ClaimsView.as_view()),
    path(P + "pipeline-versions/", PipelineVersionsView.as_view()),
    path(P + "batches/", BatchesView.as_view()),
    path(P + "batches/<int:number>/", BatchView.as_view()),
    re_path(
        r"^projects/(?P<slug>[-\w]+)/batches/(?P<number>[0-9]{1,9})/(?P<step>open|pause|resume|adjudicate|close|reopen)/$",
        BatchStepView.as_view(),
    ),
    path(P + "flags/", FlagsView.as_view()),
    path(P + "flags/<int:flag_id>/resolve/", FlagResolveView.as_view()),
    path(P + "batches/<int:number>/extend/", BatchExtendView.as_view()),
    path(P + "batches/<int:number>/tasks/", tasks.BatchTasksView.as_view()),
    path(P + "batches/<int:number>/quality/", BatchQualityView.as_view()),
    path(P + "tasks/reassign/", tasks.ReassignView.as_view()),
    path(P + "tasks/<int:task_id>/return/", tasks.ReturnView.as_view()),
    path(P + "tasks/<int:task_id>/release/", tasks.ReleaseView.as_view()),
    path(P + "members/<str:username>/hand-on/", tasks.HandOnView.as_view()),
    path(P + "gold/", GoldView.as_view()),
    path(P + "gold/draw/", GoldDrawView.as_view()),
    path(P + "gold/<int:gold_id>/", GoldAnswerView.as_view()),
    path(P + "disputes/", DisputesView.as_view()),
    path(P + "disputes/accept/", AcceptView.as_view()),
    path(P + "disputes/<int:verdict_id>/", DisputeView.as_view()),
    path(P + "disputes/<int:verdict_id>/approve/", DisputeApproveView.as_view()),
    path(P + "disputes/<int:verdict_id>/return/", DisputeReturnView.as_view()),
    path(P + "lessons/", LessonsView.as_view()),
    path(P + "work/", work.WorkView.as_view()),
    path(P + "audit/", AuditView.as_view()),
    path(P + "criteria/<slug:key>/versions/", VersionsView.as_view()),
    path(P + "criteria/<slug:key>/impact/", ImpactView.as_view()),
    path(P + "criteria/<slug:key>/relabel/", RelabelView.as_view()),
    path(P + "imports/", ImportsView.as_view()),
    path(P + "imports/<uuid:job_id>/", ImportView.as_view()),
    path(P + "imports/<uuid:job_id>/start/", ImportStartView.as_view()),
    path(P + "imports/<uuid:job_id>/preview/", ImportPreviewView.as_view()),
    path(P + "imports/<uuid:job_id>/errors.csv", ImportErrorsView.as_view()),
    path(P + "releases/", ReleasesView.as_view()),
    path(P + "releases/<int:number>/", ReleaseView.as_view()),
    path(P + "releases/<int:number>/file/", ReleaseFileView.as_view()),
]
