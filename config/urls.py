"""Every URL: pages at the root, the API below /api/, which answers in JSON also when there is no such route.

What watches a process is answered before any of them (config/health.py)."""

from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from config.errors import no_such_route
from frontend.reports.file import ReportFileView

handler400 = "config.errors.bad_request"
handler500 = "config.errors.server_error"

urlpatterns = [
    path("api/", include("annotate.api.urls")),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    path(
        "api/docs/",
        SpectacularSwaggerSplitView.as_view(url_name="schema", template_name="api_docs.html"),
        name="api-docs",
    ),
    path("api/", include("judges.api.urls")),
    path("api/", include("systems.api.urls")),
    path("api/projects/<slug:slug>/reports/<int:number>/download.html", ReportFileView.as_view(), name="report-file"),
    re_path(r"^api/", no_such_route),
    path("", include("frontend.urls")),
]
