"""Forests of scikit-learn, as Vidur's, beside those of XGBoost with the sizes of
workload/regressors/tree_model.cc: how far their answers differ, and how far both
are off on samples that were held out."""

import numpy
import xgboost
from sklearn.ensemble import RandomForestRegressor

from vidur_comparison import rules, tables

FOLDS = 5


def fit_scikit(x, y):
    return RandomForestRegressor(n_estimators=250, max_depth=16,
                                 random_state=0).fit(x, y).predict


def fit_xgboost(x, y):
    logs = numpy.log(y)
    model = xgboost.train(
        {"verbosity": 0, "nthread": 1, "seed": 42, "tree_method": "exact",
         "objective": "reg:squarederror", "base_score": float(logs.mean()),
         "num_parallel_tree": 100, "max_depth": 20, "subsample": 0.632,
         "lambda": 0, "learning_rate": 1},
        xgboost.DMatrix(-x, label=logs), 1)  # Negated, as in vidur_cost.h.
    return lambda asked: numpy.exp(model.predict(xgboost.DMatrix(-asked)))


def held_out(fit, x, y):
    """Mean error of samples that were held out, in percent."""
    order = numpy.random.RandomState(0).permutation(len(y))
    errors = []
    for fold in range(FOLDS):
        test = order[fold::FOLDS]
        rest = numpy.setdiff1d(order, test)
        errors += list(abs(fit(x[rest], y[rest])(x[test]) / y[test] - 1))
    return 100 * numpy.mean(errors)


def compare(mlp):
    """Prints a line for each operator of mlp.csv, and one for their sum."""
    rows = [row for row in tables.read(mlp)
            if row["num_tensor_parallel_workers"] == "1"]
    x = numpy.array([[float(row["num_tokens"])] for row in rows])
    asked = numpy.arange(8, 4097, 8, dtype=float)[:, None]
    sums = [0, 0]
    print(f"{'operator':<26} {'differ %':>8} {'largest':>8} "
          f"{'scikit-learn':>13} {'XGBoost':>8}  held out, %")
    for name in rules.COMPUTE:
        y = numpy.array([max(1e-6, float(row[f"time_stats.{name}.median"]))
                         for row in rows])
        answers = [fit(x, y)(asked) for fit in (fit_scikit, fit_xgboost)]
        sums = [total + answer for total, answer in zip(sums, answers)]
        differ = 100 * abs(answers[1] / answers[0] - 1)
        print(f"{name:<26} {differ.mean():>8.2f} {differ.max():>8.2f} "
              f"{held_out(fit_scikit, x, y):>13.2f} "
              f"{held_out(fit_xgboost, x, y):>8.2f}")
    differ = 100 * abs(sums[1] / sums[0] - 1)
    print(f"{'sum':<26} {differ.mean():>8.2f} {differ.max():>8.2f}")
