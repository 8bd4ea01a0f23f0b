from django.apps import AppConfig


class FrontendConfig(AppConfig):
    name = "frontend"
    verbose_name = "Pages"

    def ready(self) -> None:
        from annotate.core.text_tables import register_wording
        from judges.reports.requests import register_drawer

        register_wording("frontend.reports.in_words.in_words")
        register_drawer("frontend.reports.plots.of_report.report_plots")
