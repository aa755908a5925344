"""An uncertainty, a p-value and a reason from a fitted scikit-learn forest, in one line.

For any classifier with `predict_proba`. What it measures (entropy, disagreement of trees, distances to the training
rows) depends on what the classifier has.
"""

from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier

from vecuq import from_estimator
from vecuq.evaluation import roc_auc

X, y = load_digits(return_X_y=True)
seen = y < 8  # the forest never sees an 8 or a 9
X_seen, y_seen, X_unseen = X[seen], y[seen], X[~seen]
train, calibration, test = slice(0, 600), slice(600, 1_000), slice(1_000, None)

forest = RandomForestClassifier(60, min_samples_leaf=2, random_state=0).fit(X_seen[train], y_seen[train])
model = from_estimator(forest, X_seen[train], y_seen[train], X_seen[calibration])
print("measures:", ", ".join(model.measures_))

false_alarms = model.flag(X_seen[test], alpha=0.05).mean()
found = model.flag(X_unseen, alpha=0.05).mean()
errors = roc_auc(model.uncertainty(X_seen[test]), forest.predict(X_seen[test]) != y_seen[test])
print(f"flagged: {false_alarms:.1%} of new digits 0 to 7, {found:.1%} of the digits 8 and 9")
print(f"ROC-AUC for errors: {errors:.2f}")
print(model.why(X_unseen[:1])[0])
