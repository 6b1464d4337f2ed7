"""A random forest of scikit-learn whose votes are released with noise."""

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from dpassay import DP

X, Y = load_breast_cancer(return_X_y=True)


# Every tree may see every record: one record moves up to 5 votes.
def votes(data, queries, size, rng):
    forest = RandomForestClassifier(5, max_depth=3, random_state=0).fit(data.X, data.y)
    found = sum(forest.classes_[tree.predict(queries).astype(int)] for tree in forest.estimators_)
    return found + rng.laplace(scale=5, size=(size, len(queries)))


def test_the_votes_keep_their_epsilon(assay):
    assay(votes, claim=DP(epsilon=1), data=(X[:40, :2], Y[:40])).assert_not_refuted()
