from django.apps import AppConfig


class FrontendConfig(AppConfig):
    name = "frontend"
    verbose_name = "Pages"

    def ready(self) -> None:
        from judges.services.drawing import register_drawer

        register_drawer("judges.plots.of_report.report_plots")
