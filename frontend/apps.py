from django.apps import AppConfig


class FrontendConfig(AppConfig):
    name = "frontend"
    verbose_name = "Pages"

    def ready(self) -> None:
        from judges.reports.requests import register_drawer

        register_drawer("frontend.reports.plots.of_report.report_plots")
