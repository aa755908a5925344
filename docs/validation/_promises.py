"""Every promise that vecuq makes: what it says, what it assumes, what proves it, and where it lives in the code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Promise:
    """One line of the table of promises."""

    key: str  # by which the checks of a simulation name it
    says: str
    assumes: str
    theorem: str
    code: tuple[str, ...]  # public names below `vecuq`
    script: str  # the simulation, plot_<script>.py


ROWS = "exchangeable rows"
LABELS = "labels of a random sample of the rows to be decided"

PROMISES = (
    Promise(
        "p_values",
        "P(p <= alpha) <= alpha, on average over calibration sets; so for `flag`",
        f"{ROWS}; none fitted the score",
        "Vovk, Gammerman and Shafer (2005)",
        (
            "conformal.conformal_p_values",
            "conformal.flagged",
            "conformal.threshold_at",
            "conformal.HeldScores",
            "Conformal",
        ),
        "p_values",
    ),
    Promise(
        "cross",
        "P(p <= alpha) <= 2 alpha + 2 (1 - alpha) (K - 1) / (n + K) with K folds",
        ROWS,
        "Vovk and Wang (2020)",
        ("conformal.cross_p_values",),
        "p_values",
    ),
    Promise(
        "missing",
        "valid p-values of rows with missing values",
        f"{ROWS}; what is missing does not depend on the values",
        "as above, by columns",
        ("Ranker.p_values",),
        "p_values",
    ),
    Promise(
        "beta",
        "the rate of one calibration set has the law Beta(k, n + 1 - k)",
        "independent rows, no ties",
        "Vovk (2012), prop. 2",
        ("conformal.rate_interval",),
        "confidence",
    ),
    Promise(
        "confidence",
        "with the stated confidence, this calibration set flags at most alpha",
        "independent rows, or groups",
        "Vovk (2012), prop. 2a; groups: Hoeffding (1963), Bentkus (2004)",
        ("conformal.rate_with_confidence", "conformal.held_for_confidence"),
        "confidence",
    ),
    Promise(
        "groups",
        "P(p <= alpha) <= alpha for a row of a new group",
        "exchangeable groups, and rows within each",
        "Lee, Barber and Willett (2023)",
        ("conformal.grouped_p_values", "conformal.grouped_threshold"),
        "groups",
    ),
    Promise(
        "select",
        "of the rows selected from one batch, at most alpha in-distribution on average",
        f"{ROWS}; for `bh` independent of each other",
        "Bates and others (2023); Benjamini and Yekutieli (2001)",
        ("conformal.selected", "conformal.rows_needed"),
        "selection",
    ),
    Promise(
        "e_lond",
        "the same of all rows that a stream of batches ever selects",
        "each in-distribution row exchangeable with the held-back rows; any dependence",
        "Xu and Ramdas (2024)",
        ("conformal.select_by_e_values", "monitor.StreamSelection"),
        "selection",
    ),
    Promise(
        "pooled",
        "the same, **simulated only**",
        "rows far out keep coming at about the same rate",
        "none",
        ("conformal.select_by_pooling", "monitor.StreamSelection"),
        "selection",
    ),
    Promise(
        "monitor",
        "without drift, ever an alarm with probability at most alpha",
        "calibration rows and stream exchangeable",
        "Vovk, Nouretdinov and Gammerman (2003); Ville (1939)",
        ("conformal.uniform_ranks", "conformal.play", "Monitor"),
        "drift",
    ),
    Promise(
        "drift_test",
        "p-values of drift, valid for any number of rows and looks",
        ROWS,
        "Gumbel and von Schelling (1950); Bonferroni",
        ("conformal.rows_beyond_p_value", "monitor.drift_test"),
        "drift",
    ),
    Promise(
        "bounds",
        "a bound on an error rate fails with probability at most delta",
        "independent labels",
        "Clopper and Pearson (1934)",
        (
            "conformal.error_rate_p_values",
            "conformal.error_rate_upper",
            "conformal.error_rate_lower",
        ),
        "bounds",
    ),
    Promise(
        "betting",
        "the same for the mean of graded losses, and for groups",
        "independent rows or groups",
        "Waudby-Smith and Ramdas (2024)",
        ("conformal.mean_loss_p_values", "conformal.mean_loss_upper"),
        "bounds",
    ),
    Promise(
        "coverage",
        "no share of rows below a threshold is further off than the margin, for all thresholds at once",
        "independent rows",
        "Dvoretzky, Kiefer and Wolfowitz; Massart (1990)",
        ("conformal.coverage_margin",),
        "bounds",
    ),
    Promise(
        "gate",
        "with probability 1 - delta, the error rate of accepted rows is at most the target's",
        f"{LABELS}, independent",
        "Wiens and Dmitrienko (2005); Angelopoulos and others (2021)",
        (
            "conformal.accept_confidently",
            "conformal.walk_outwards",
            "conformal.fewest_labels",
            "Gate",
        ),
        "gate",
    ),
    Promise(
        "gate_groups",
        "the same for a random row of a random group",
        "labelled groups are a random sample",
        "the same, over bets",
        ("conformal.accept_confidently", "Gate.fit"),
        "gate",
    ),
    Promise(
        "quality",
        "with probability 1 - delta, accepted rows have the target's mean quality",
        LABELS,
        "the same, over bets",
        ("Gate", "conformal.mean_loss_p_values"),
        "gate_targets",
    ),
    Promise(
        "flag_targets",
        "with probability 1 - delta, the flag has its recall, or its precision",
        LABELS,
        "Clopper and Pearson (1934), fixed sequence",
        ("conformal.missed_p_values", "Gate"),
        "gate_targets",
    ),
    Promise(
        "costs",
        "with probability 1 - delta, costs and error rate are below their bounds",
        LABELS,
        "Clopper and Pearson (1934), Bonferroni",
        ("Gate", "Certificate"),
        "gate_targets",
    ),
    Promise(
        "categories",
        "each category keeps its target with probability 1 - delta; all together with `simultaneous`",
        f"{LABELS}, of every category",
        "as for the gate; Bonferroni",
        ("Gate.fit",),
        "gate_targets",
    ),
    Promise(
        "order",
        "the promise stands if a part of the labels chooses the order",
        LABELS,
        "sample splitting",
        ("Gate",),
        "gate_targets",
    ),
    Promise(
        "guard",
        "the promise stands if rows with small p-values are never accepted",
        LABELS,
        "labelled and new rows are treated alike",
        ("Gate",),
        "gate_targets",
    ),
    Promise(
        "average",
        "of the rows accepted from one batch, at most the target's share is wrong on average",
        "labelled and new rows exchangeable and independent",
        "Jin and Candes (2023); Gui, Jin and Ren (2024)",
        ("conformal.acceptance_p_values", "conformal.accepted_on_average", "Gate"),
        "gate_average",
    ),
    Promise(
        "running",
        "the bound on the running error rate ever fails with probability at most delta",
        "labels of rows drawn at random from the accepted ones",
        "Ville (1939); Howard and others (2021)",
        ("conformal.running_error_upper", "conformal.running_error_lower", "LiveGate"),
        "live_gate",
    ),
    Promise(
        "broken",
        "a promise that is kept is ever called broken with probability at most delta",
        "the same",
        "Ville (1939)",
        ("conformal.doubted", "LiveGate"),
        "live_gate",
    ),
    Promise(
        "p_wrong",
        "a calibrated probability of being wrong, and an interval for one cell",
        "exchangeable rows; interval: the error rate does not fall",
        "Vovk and Petej (2014); Yang and Barber (2019)",
        ("conformal.wrong_rates", "Gate.p_wrong"),
        "p_wrong",
    ),
    Promise(
        "auc",
        "the interval of a ROC-AUC covers about 95 %, **approximate**",
        "independent rows, or groups that are named",
        "Newcombe (2006)",
        ("evaluation.roc_auc_interval",),
        "evaluation",
    ),
    Promise(
        "bootstrap",
        "bootstrap intervals cover about 95 %, **approximate**",
        "many independent rows",
        "Efron (1979)",
        ("evaluation.evaluate", "evaluation.Bootstrap"),
        "evaluation",
    ),
    Promise(
        "band",
        "the band around a risk-coverage curve holds the risk at each share in about 95 %, **approximate**",
        "independent rows, or groups that are named",
        "Clopper and Pearson (1934), at a threshold read from the rows",
        ("evaluation.kept_band",),
        "evaluation",
    ),
    Promise(
        "wins",
        "among equal methods, a false win in about 5 % of tables, **approximate**",
        "many independent rows",
        "Westfall and Young (1993); Romano and Wolf (2005)",
        ("evaluation.MethodComparison.separated",),
        "evaluation",
    ),
    Promise(
        "monotone",
        "raising one score never lowers the uncertainty",
        "`is_proven_monotone`; elsewhere it is tested at every fit",
        "no negative coefficient (`ranker/proof.py`)",
        ("ranker.is_proven_monotone",),
        "order",
    ),
    Promise(
        "same_bits",
        "a row has the same bits alone, in a batch and after saving",
        "one machine, one build of its libraries",
        "[decision 3](../adr/0003-same-bits.md)",
        ("Ranker.uncertainty",),
        "order",
    ),
    Promise(
        "contributions",
        "contributions and the baseline add up to the uncertainty",
        "up to ten columns",
        "Shapley (1953)",
        ("Ranker.explain",),
        "order",
    ),
)
