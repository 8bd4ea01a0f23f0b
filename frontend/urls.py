"""Every page. A section's URL has the name that the navigation gives it (views.base.SECTIONS)."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path

from frontend.views import (
    account,
    adjudication,
    batches,
    criteria,
    exports,
    home,
    imports,
    members,
    projects,
    report_judge,
    reports,
    samples,
    workspace,
)

project_patterns = [
    path("", projects.overview, name="project"),
    path("label/", workspace.workspace, name="label"),
    path("settings/", projects.settings, name="settings"),
    path("adjudicate/", adjudication.disputes, name="adjudicate"),
    path("adjudicate/<int:verdict_id>/", adjudication.dispute, name="dispute"),
    path("samples/", samples.samples, name="samples"),
    path("samples/<int:sample_id>/", samples.sample, name="sample"),
    path("batches/", batches.batches, name="batches"),
    path("batches/new/", batches.new, name="batch-new"),
    path("batches/<int:number>/", batches.batch, name="batch"),
    path("batches/<int:number>/progress/", batches.progress, name="batch-progress"),
    path("batches/<int:number>/delete/", batches.delete, name="batch-delete"),
    path("batches/<int:number>/<slug:step>/", batches.step, name="batch-step"),
    path("criteria/", criteria.criteria, name="criteria"),
    path("criteria/add/", criteria.add, name="criteria-add"),
    path("criteria/new/", criteria.new, name="criterion-new"),
    path("criteria/edit/<slug:key>/", criteria.edit, name="criterion-edit"),
    path("import/", imports.imports, name="import"),
    path("import/<uuid:job_id>/", imports.job, name="import-job"),
    path("import/<uuid:job_id>/progress/", imports.progress, name="import-progress"),
    path("import/<uuid:job_id>/errors.csv", imports.errors_csv, name="import-errors"),
    path("reports/", reports.reports, name="reports"),
    path("reports/<slug:key>/", reports.report, name="report"),
    path("reports/<slug:key>/judge/", report_judge.judge, name="report-judge"),
    path("reports/<slug:key>/status/", reports.status, name="report-status"),
    path("reports/<slug:key>/<int:number>.<slug:form>", reports.download, name="report-download"),
    path("export/", exports.exports, name="export"),
    path("export/settle/", exports.settle, name="export-settle"),
    path("export/<int:number>/", exports.download, name="release"),
    path("members/", members.members, name="members"),
    path("members/new-account/", members.new_account, name="member-account"),
    path("members/<str:username>/role/", members.change_role, name="member-role"),
    path("members/<str:username>/remove/", members.remove, name="member-remove"),
]

urlpatterns = [
    path("", home.home, name="home"),
    path("login/", LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("new/", projects.new_project, name="project-new"),
    path("account/", account.account, name="account"),
    path("account/password/", account.ChangePassword.as_view(), name="password"),
    path("account/tokens/", account.new_token, name="token-new"),
    path("account/tokens/<str:token_id>/revoke/", account.revoke_token, name="token-revoke"),
    path("p/<slug:slug>/", include(project_patterns)),
]
