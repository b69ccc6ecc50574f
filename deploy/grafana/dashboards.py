"""The dashboards, as code. ``python deploy/grafana/dashboards.py`` writes them to ``json/``, which is committed.

Queries take the greatest over web processes of what all of those tell alike (see docs/metrics.md), and the sum over
processes of what each counts for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from grafana_foundation_sdk.builders import bargauge, common, dashboard, heatmap, prometheus, stat, table, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import common as options
from grafana_foundation_sdk.models import dashboard as model
from grafana_foundation_sdk.models import heatmap as heatmap_model
from grafana_foundation_sdk.models import prometheus as prometheus_model

JSON: Final = Path(__file__).parent / "json"
SOURCE: Final = model.DataSourceRef(type_val="prometheus", uid="prometheus")
WIDTH: Final = 24

Query: TypeAlias = tuple[str, str]
"""A PromQL expression, and how its series are called in the legend."""


def leaderboards() -> dashboard.Dashboard:
    """The table and the rating history of every ladder."""
    return (
        _dashboard("leaderboards", "Leaderboards", "Who leads on every ladder, and how that came about.", "6h")
        .with_variable(_variable("ladder", "Ladder", "label_values(arena_rating, ladder)", many=True))
        .with_panel(
            _table(
                "Leaders",
                {
                    "Elo": "max by (ladder, bot, version) (arena_rating) "
                    "and on (ladder, bot, version) (max by (ladder, bot, version) (arena_rating_rank) == 1)",
                    "Games": "max by (ladder, bot, version) (arena_rating_games) "
                    "and on (ladder, bot, version) (max by (ladder, bot, version) (arena_rating_rank) == 1)",
                },
                sort="ladder",
            )
            .span(14)
            .height(9)
        )
        .with_panel(
            _lines(
                "Results a minute by ladder",
                ("max by (ladder) (rate(arena_ledger_entries_total[5m])) * 60", "{{ladder}}"),
                text="Entries of the ledgers: a set makes one.",
            )
            .span(10)
            .height(9)
        )
        .with_row(dashboard.Row("$ladder").repeat("ladder"))
        .with_panel(
            _table(
                "$ladder",
                {
                    "Rank": 'max by (bot, version) (arena_rating_rank{ladder="$ladder"})',
                    "Elo": 'max by (bot, version) (arena_rating{ladder="$ladder"})',
                    "Games": 'max by (bot, version) (arena_rating_games{ladder="$ladder"})',
                },
                sort="Rank",
            )
            .span(9)
            .height(11)
        )
        .with_panel(
            _lines(
                "Rating history of $ladder",
                ('max by (bot, version) (arena_rating{ladder="$ladder"})', "{{bot}} {{version}}"),
            )
            .span(15)
            .height(11)
        )
    )


def arena() -> dashboard.Dashboard:
    """Whether the arena is well, and if not, where."""
    return (
        _dashboard("arena", "Arena", "Whether the arena is well, and if not, where.", "1h")
        .with_panel(_number("Matches a second", "sum(arena:results:rate1m)", decimals=1))
        .with_panel(_number("Bots connected", "max(sum by (instance) (arena_sessions))"))
        .with_panel(_number("Sets being played", "max(arena_all_sets_running)"))
        .with_panel(_number("Oldest waiting set", "max(arena_queue_age_seconds)", unit="s", bad=60))
        .with_panel(_number("Answers, p95", "arena:decision_seconds:p95_1m", unit="s"))
        .with_panel(_number("Workers", "max(arena_workers)", worse_below=1))
        .with_panel(_number("Redis", "min(arena_redis_up)", worse_below=1))
        .with_panel(_number("Alerts", 'count(ALERTS{alertstate="firing"}) or vector(0)', bad=1))
        .with_row(dashboard.Row("Matches"))
        .with_panel(_half("Matches a second by game", ("sum by (game) (arena:results:rate1m)", "{{game}}"), stack=True))
        .with_panel(
            _half(
                "Faults a second by reason",
                ('sum by (reason) (arena:results:rate1m{reason!="NORMAL"})', "{{reason}}"),
                ("sum(rate(arena_voided_attempts_total[1m])) or vector(0)", "void attempts"),
            )
        )
        .with_panel(
            _half(
                "Sets",
                ('max by (state) (arena_sets{state=~"QUEUED|CLAIMED"})', "{{state}}"),
                ("sum by (instance) (arena_sets_running)", "played by {{instance}}"),
            )
        )
        .with_panel(_half("Oldest waiting set", ("max(arena_queue_age_seconds)", "age"), unit="s"))
        .with_row(dashboard.Row("Decisions"))
        .with_panel(
            _half(
                "From request to answer",
                ("arena:decision_seconds:p50_1m", "p50"),
                ("arena:decision_seconds:p95_1m", "p95"),
                unit="s",
            )
        )
        .with_panel(
            _half(
                "Decisions a second",
                ("sum by (game) (rate(arena_decisions_total[1m]))", "{{game}}"),
                ("sum(rate(arena_gateway_decisions_total[1m]))", "through gateways"),
                ("sum(rate(arena_gateway_expired_total[1m]))", "not answered in time"),
            )
        )
        .with_panel(
            _half(
                "Sessions",
                ("max by (gateway) (arena_sessions)", "{{gateway}}"),
                ("sum(arena_gateway_games)", "seats of running games"),
            )
        )
        .with_panel(
            _half(
                "What gateways refuse, a second",
                ("sum by (reason) (rate(arena_gateway_streams_failed_total[5m]))", "stream: {{reason}}"),
                ("sum by (code) (rate(arena_gateway_acts_refused_total[5m]))", "act: {{code}}"),
            )
        )
        .with_row(dashboard.Row("Workers, Celery, Redis"))
        .with_panel(
            _half(
                "Workers", ("max(arena_workers)", "with a lease"), ('sum(up{job="worker"})', "that answer Prometheus")
            )
        )
        .with_panel(
            _half(
                "Celery's tasks",
                ("max(arena_doorbells)", "wait for a worker"),
                ("max(arena_doorbells_unacked)", "taken, not yet begun"),
            )
        )
        .with_panel(_half("Redis: memory", ("max(arena_redis_memory_bytes)", "used"), unit="bytes"))
        .with_panel(
            _half(
                "Redis: connections, events to publish",
                ("max(arena_redis_clients)", "connections"),
                ("max(arena_outbox_events)", "events that wait"),
            )
        )
        .with_row(dashboard.Row("Processes"))
        .with_panel(
            _half(
                "How late event loops run",
                ("max by (job, instance) (arena_loop_lateness_seconds)", "{{job}} {{instance}}"),
                unit="s",
            )
        )
        .with_panel(
            _half(
                "Processor time",
                ("sum by (job, instance) (rate(process_cpu_seconds_total[1m]))", "{{job}} {{instance}}"),
                unit="percentunit",
            )
        )
        .with_panel(
            _half(
                "Memory",
                ("sum by (job, instance) (process_resident_memory_bytes)", "{{job}} {{instance}}"),
                unit="bytes",
            )
        )
        .with_panel(
            _half(
                "Pages, p99 by route",
                (
                    "histogram_quantile(0.99, sum by (le, route) (rate(arena_web_request_seconds_bucket[5m])))",
                    "{{route}}",
                ),
                unit="s",
            )
        )
    )


def my_bot() -> dashboard.Dashboard:
    """One bot: its rating, its faults, how fast it answers."""
    of_bot = '{bot="$bot"}'
    return (
        _dashboard(
            "my-bot", "My bot", "One bot: its ratings, its faults, how fast it answers. Whom it met: its page.", "3h"
        )
        .with_variable(_variable("bot", "Bot", "label_values(arena_bot_rating, bot)"))
        .with_panel(
            _lines(
                "Rating of $bot",
                (f"max by (ladder, version) (arena_bot_rating{of_bot})", "{{ladder}} {{version}}"),
            )
            .span(15)
            .height(10)
        )
        .with_panel(
            _table(
                "Ladders",
                {
                    "Elo": f"max by (ladder, version) (arena_bot_rating{of_bot})",
                    "Won": 'max by (ladder, version) (arena_bot_outcomes_total{bot="$bot", outcome="win"})',
                    "Drawn": 'max by (ladder, version) (arena_bot_outcomes_total{bot="$bot", outcome="draw"})',
                    "Lost": 'max by (ladder, version) (arena_bot_outcomes_total{bot="$bot", outcome="loss"})',
                },
                sort="ladder",
            )
            .span(9)
            .height(10)
        )
        .with_panel(
            _half(
                "Games a minute by outcome",
                (
                    f"sum by (outcome) (max by (ladder, version, outcome) (rate(arena_bot_outcomes_total{of_bot}[5m]))) * 60",
                    "{{outcome}}",
                ),
                stack=True,
            )
        )
        .with_panel(
            bargauge.Panel()
            .title("How its games ended, in the last hours")
            .datasource(SOURCE)
            .orientation(options.VizOrientation.HORIZONTAL)
            .reduce_options(_last())
            .with_target(_query(f"max by (reason) (arena_bot_endings_total{of_bot})", "{{reason}}", instant=True))
            .span(12)
            .height(8)
        )
        .with_panel(
            _half(
                "Decisions a second",
                (f"sum(rate(arena_gateway_bot_decisions_total{of_bot}[1m]))", "asked"),
                (f"sum(rate(arena_gateway_bot_expired_total{of_bot}[1m]))", "not answered in time"),
                (f"sum(rate(arena_gateway_bot_acts_refused_total{of_bot}[1m]))", "answers that did not count"),
                (f"sum(rate(arena_gateway_bot_strikes_total{of_bot}[1m]))", "strikes"),
            )
        )
        .with_panel(
            _half(
                "From request to answer, network included",
                *(
                    (
                        f"histogram_quantile({q}, sum by (le) (rate(arena_gateway_bot_answer_seconds_bucket{of_bot}[1m])))",
                        name,
                    )
                    for q, name in ((0.5, "p50"), (0.95, "p95"), (0.99, "p99"))
                ),
                unit="s",
            )
        )
        .with_panel(
            heatmap.Panel()
            .title("Answers by time")
            .datasource(SOURCE)
            .calculate(False)
            .color(heatmap.HeatmapColorOptions().scheme("Blues").mode(heatmap_model.HeatmapColorMode.SCHEME))
            .with_target(
                _query(f"sum by (le) (increase(arena_gateway_bot_answer_seconds_bucket{of_bot}[1m]))", "{{le}}").format(
                    prometheus_model.PromQueryFormat.HEATMAP
                )
            )
            .span(WIDTH)
            .height(9)
        )
    )


ALL: Final[dict[str, Callable[[], dashboard.Dashboard]]] = {
    "leaderboards": leaderboards,
    "arena": arena,
    "my-bot": my_bot,
}


def text(make: Callable[[], dashboard.Dashboard]) -> str:
    """A dashboard's JSON."""
    return JSONEncoder(sort_keys=True, indent=2).encode(make().build()) + "\n"


def main() -> None:
    """Writes all of them."""
    JSON.mkdir(exist_ok=True)
    for name, make in ALL.items():
        (JSON / f"{name}.json").write_text(text(make), encoding="utf-8")


def _dashboard(uid: str, title: str, description: str, span: str) -> dashboard.Dashboard:
    return (
        dashboard.Dashboard(title)
        .uid(f"bot-arena-{uid}")
        .description(description)
        .tags(["bot-arena"])
        .readonly()
        .refresh("5s")
        .time(f"now-{span}", "now")
        .timezone("browser")
        .tooltip(model.DashboardCursorSync.CROSSHAIR)
        .link(dashboard.DashboardLink("Other dashboards").type(model.DashboardLinkType.DASHBOARDS).tags(["bot-arena"]))
    )


def _variable(name: str, label: str, query: str, *, many: bool = False) -> dashboard.QueryVariable:
    return (
        dashboard.QueryVariable(name)
        .label(label)
        .datasource(SOURCE)
        .query(query)
        .refresh(model.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(model.VariableSort.ALPHABETICAL_ASC)
        .multi(many)
        .include_all(many)
    )


def _query(expr: str, legend: str, *, instant: bool = False) -> prometheus.Dataquery:
    query = prometheus.Dataquery().expr(expr).legend_format(legend)
    return query.instant() if instant else query.range()


def _lines(title: str, *queries: Query, unit: str = "short", stack: bool = False, text: str = "") -> timeseries.Panel:
    panel = (
        timeseries.Panel()
        .title(title)
        .description(text)
        .datasource(SOURCE)
        .unit(unit)
        .line_width(2)
        .fill_opacity(30 if stack else 0)
        .show_points(options.VisibilityMode.NEVER)
        .legend(
            common.VizLegendOptions()
            .display_mode(options.LegendDisplayMode.LIST)
            .placement(options.LegendPlacement.BOTTOM)
            .show_legend(True)
        )
        .tooltip(common.VizTooltipOptions().mode(options.TooltipDisplayMode.MULTI).sort(options.SortOrder.DESCENDING))
    )
    if stack:
        panel.stacking(common.StackingConfig().mode(options.StackingMode.NORMAL).group("A"))
    for ref, (expr, legend) in zip("ABCDEFGH", queries, strict=False):
        panel.with_target(_query(expr, legend).ref_id(ref))
    return panel


def _half(title: str, *queries: Query, unit: str = "short", stack: bool = False) -> timeseries.Panel:
    return _lines(title, *queries, unit=unit, stack=stack).span(WIDTH // 2).height(8)


def _number(
    title: str,
    expr: str,
    *,
    unit: str = "short",
    decimals: int | None = None,
    bad: float | None = None,
    worse_below: float | None = None,
) -> stat.Panel:
    """A number to watch: red from ``bad`` on, or below ``worse_below``."""
    steps: list[model.Threshold] = [model.Threshold(color="green", value=None)]
    if bad is not None:
        steps.append(model.Threshold(color="red", value=bad))
    if worse_below is not None:
        steps = [model.Threshold(color="red", value=None), model.Threshold(color="green", value=worse_below)]
    panel = (
        stat.Panel()
        .title(title)
        .datasource(SOURCE)
        .unit(unit)
        .reduce_options(_last())
        .graph_mode(options.BigValueGraphMode.AREA)
        .thresholds(dashboard.ThresholdsConfig().mode(model.ThresholdsMode.ABSOLUTE).steps(steps))
        .with_target(_query(expr, title))
        .span(3)
        .height(4)
    )
    return panel if decimals is None else panel.decimals(decimals)


def _table(title: str, columns: dict[str, str], *, sort: str) -> table.Panel:
    """Labels and a column of values for each query, joined."""
    refs = dict(zip("ABCDEFGH", columns, strict=False))
    panel = table.Panel().title(title).datasource(SOURCE).decimals(0)
    for ref, name in refs.items():
        panel.with_target(
            _query(columns[name], name, instant=True).ref_id(ref).format(prometheus_model.PromQueryFormat.TABLE)
        )
    renamed = {"Value": next(iter(columns)), **{f"Value #{ref}": name for ref, name in refs.items()}}
    return (
        panel.with_transformation(_transformation("merge", {}))
        .with_transformation(_transformation("organize", {"excludeByName": {"Time": True}, "renameByName": renamed}))
        .with_transformation(_transformation("sortBy", {"sort": [{"field": sort}]}))
    )


def _transformation(id_: str, given: dict[str, Any]) -> model.DataTransformerConfig:
    return model.DataTransformerConfig(id_val=id_, options=given)


def _last(calculations: Sequence[str] = ("lastNotNull",)) -> common.ReduceDataOptions:
    return common.ReduceDataOptions().calcs(list(calculations)).values(False)


if __name__ == "__main__":
    main()
