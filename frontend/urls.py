"""Every page. A section's URL has the name that the navigation gives it (views.base.SECTIONS)."""

from django.contrib.auth.views import LogoutView
from django.urls import include, path

from frontend.account import views as account
from frontend.account import views as keys
from frontend.account import views as language
from frontend.adjudicate import dispute
from frontend.adjudicate import disputes as accept
from frontend.adjudicate.disputes import disputes, names
from frontend.base.help import document
from frontend.batches import views as batches
from frontend.batches.gold import known, remove
from frontend.batches.views import extend, send_back, tasks
from frontend.data import claims, samples
from frontend.data import files as exports
from frontend.data import files as imports
from frontend.data import samples as flags
from frontend.judges import endpoints, lab, proposals, run_start, runs
from frontend.judges import views as judges
from frontend.judges.canaries import check, checks, estimate
from frontend.judges.edit import choose, edit, new
from frontend.label import views as lessons
from frontend.label import views as workspace
from frontend.label.views import change, done
from frontend.projects import audit, criteria, members
from frontend.projects import views as home
from frontend.projects.criteria import carry
from frontend.projects.members import open_invite
from frontend.projects.views import new_project, overview, settings
from frontend.reports import views as reports
from frontend.reports.looks import certify, look
from frontend.reports.outcomes import outcomes
from frontend.reports.planner import planner
from frontend.reports.views import annotators, compare, judge, triage

project_patterns = [
    path("", overview, name="project"),
    path("label/", workspace.workspace, name="label"),
    path("label/lessons/", lessons.lessons, name="lessons"),
    path("label/done/", done, name="label-done"),
    path("label/done/<int:task_id>/change/", change, name="label-change"),
    path("flags/", flags.flags, name="flags"),
    path("flags/<int:flag_id>/resolve/", flags.resolve, name="flag-resolve"),
    path("settings/", settings, name="settings"),
    path("adjudicate/", disputes, name="adjudicate"),
    path("adjudicate/accept/", accept.accept, name="accept"),
    path("adjudicate/names/", names, name="adjudicate-names"),
    path("adjudicate/<int:verdict_id>/", dispute.dispute, name="dispute"),
    path("adjudicate/<int:verdict_id>/approve/", dispute.approve_unit, name="dispute-approve"),
    path("adjudicate/<int:verdict_id>/return/", dispute.return_label, name="dispute-return"),
    path("samples/", samples.samples, name="samples"),
    path("samples/<int:sample_id>/", samples.sample, name="sample"),
    path("samples/<int:sample_id>/claims/", claims.claims, name="claims"),
    path("batches/", batches.batches, name="batches"),
    path("batches/new/", batches.new, name="batch-new"),
    path("batches/new/preview/", batches.preview, name="batch-preview"),
    path("batches/<int:number>/", batches.batch, name="batch"),
    path("batches/<int:number>/extend/", extend, name="batch-extend"),
    path("batches/<int:number>/tasks/", tasks, name="batch-tasks"),
    path("batches/<int:number>/tasks/<int:task_id>/return/", send_back, name="task-return"),
    path("batches/<int:number>/progress/", batches.progress, name="batch-progress"),
    path("batches/<int:number>/claims/", claims.of_batch, name="batch-claims"),
    path("batches/<int:number>/delete/", batches.delete, name="batch-delete"),
    path("batches/<int:number>/<slug:step>/", batches.step, name="batch-step"),
    path("gold/", known, name="gold"),
    path("gold/<int:gold_id>/remove/", remove, name="gold-remove"),
    path("criteria/", criteria.criteria, name="criteria"),
    path("criteria/add/", criteria.add, name="criteria-add"),
    path("criteria/new/", criteria.new, name="criterion-new"),
    path("criteria/edit/<slug:key>/", criteria.edit, name="criterion-edit"),
    path("criteria/versions/<slug:key>/", criteria.criterion, name="criterion"),
    path("criteria/carry/<slug:key>/<int:version>/", carry, name="criterion-carry"),
    path("import/", imports.imports, name="import"),
    path("import/<uuid:job_id>/", imports.job, name="import-job"),
    path("import/<uuid:job_id>/progress/", imports.progress, name="import-progress"),
    path("import/<uuid:job_id>/errors.csv", imports.errors_csv, name="import-errors"),
    path("judges/endpoints/", endpoints.endpoints, name="endpoints"),
    path("judges/endpoints/new/", endpoints.new, name="endpoint-new"),
    path("judges/endpoints/edit/<slug:name>/", endpoints.endpoint, name="endpoint"),
    path("judges/endpoints/edit/<slug:name>/try/", endpoints.attempt, name="endpoint-try"),
    path("judges/endpoints/edit/<slug:name>/delete/", endpoints.delete, name="endpoint-delete"),
    path("reports/", reports.reports, name="reports"),
    path("reports/<slug:key>/", reports.report, name="report"),
    path("reports/<slug:key>/judge/", judge, name="report-judge"),
    path("reports/<slug:key>/annotators/", annotators, name="report-annotators"),
    path("reports/<slug:key>/judge/look/", look, name="report-look"),
    path("reports/<slug:key>/judge/certify/", certify, name="report-certify"),
    path("reports/<slug:key>/compare/", compare, name="report-compare"),
    path("reports/<slug:key>/triage/", triage, name="report-triage"),
    path("reports/<slug:key>/planner/", planner, name="report-planner"),
    path("reports/<slug:key>/outcomes/", outcomes, name="report-outcomes"),
    path("reports/<slug:key>/status/", reports.status, name="report-status"),
    path("reports/<slug:key>/<int:number>.<slug:form>", reports.download, name="report-download"),
    path("judges/", judges.judges, name="judges"),
    path("judges/new/", choose, name="judge-new"),
    path("judges/new/<slug:start>/", new, name="judge-new-from"),
    path("judges/<int:judge_id>/", judges.judge, name="judge"),
    path("judges/<int:judge_id>/edit/", edit, name="judge-edit"),
    path("judges/<int:judge_id>/lab/", lab.lab, name="lab"),
    path("judges/<int:judge_id>/lab/estimate/", lab.estimate, name="lab-estimate"),
    path("judges/<int:judge_id>/lab/<int:trial_id>/", lab.trial, name="lab-trial"),
    path("judges/<int:judge_id>/lab/<int:trial_id>/progress/", lab.progress, name="lab-progress"),
    path("judges/<int:judge_id>/lab/<int:trial_id>/<slug:step>/", lab.step, name="lab-step"),
    path("judges/<int:judge_id>/diff/", judges.diff, name="judge-diff"),
    path("judges/<int:judge_id>/direction/", judges.direction, name="judge-direction"),
    path("judges/<int:judge_id>/canaries/", checks, name="canaries"),
    path("judges/<int:judge_id>/canaries/estimate/", estimate, name="canaries-estimate"),
    path("judges/<int:judge_id>/canaries/<int:run_id>/", check, name="canary-check"),
    path("judges/<int:judge_id>/claims/", proposals.propose, name="propose-claims"),
    path("judges/<int:judge_id>/claims/estimate/", proposals.estimate, name="propose-estimate"),
    path("judges/<int:judge_id>/run/", run_start.start, name="judge-run"),
    path("judges/<int:judge_id>/run/estimate/", run_start.estimate, name="judge-run-estimate"),
    path("judges/<int:judge_id>/run/now/", run_start.at_once, name="judge-run-now"),
    path("judges/<int:judge_id>/versions/<int:number>.json", judges.spec, name="judge-spec"),
    path("judges/<int:judge_id>/versions/<int:number>/<slug:step>/", judges.version_step, name="judge-version-step"),
    path("runs/", runs.runs, name="runs"),
    path("runs/<int:run_id>/", runs.run, name="run"),
    path("runs/<int:run_id>/progress/", runs.progress, name="run-progress"),
    path("runs/<int:run_id>/claims/", proposals.proposed, name="proposals"),
    path("runs/<int:run_id>/<slug:step>/", runs.step, name="run-step"),
    path("export/", exports.exports, name="export"),
    path("export/settle/", exports.settle, name="export-settle"),
    path("export/<int:number>/", exports.download, name="release"),
    path("audit/", audit.audit, name="audit"),
    path("audit/trail.csv", audit.audit_csv, name="audit-csv"),
    path("members/", members.members, name="members"),
    path("members/new-account/", members.new_account, name="member-account"),
    path("members/invite/", members.invite, name="member-invite"),
    path("members/invites/<int:invite_id>/revoke/", members.revoke, name="invite-revoke"),
    path("members/<str:username>/change/", members.change, name="member-change"),
    path("members/<str:username>/deactivate/", members.deactivate, name="member-deactivate"),
    path("members/<str:username>/reactivate/", members.reactivate, name="member-reactivate"),
    path("members/<str:username>/remove/", members.remove, name="member-remove"),
]

urlpatterns = [
    path("", home.home, name="home"),
    path("login/", language.LogIn.as_view(), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("language/", language.choose, name="language"),
    path("new/", new_project, name="project-new"),
    path("help/statistics/", document, name="statistics-help"),
    path("help/<path:name>/", document, name="help"),
    path("invite/<str:token>/", open_invite, name="invite"),
    path("account/", account.account, name="account"),
    path("account/email/", account.change_email, name="account-email"),
    path("account/keys/", keys.keys, name="keys"),
    path("account/password/", account.ChangePassword.as_view(), name="password"),
    path("account/tokens/", account.new_token, name="token-new"),
    path("account/tokens/<str:token_id>/revoke/", account.revoke_token, name="token-revoke"),
    path("p/<slug:slug>/", include(project_patterns)),
]
