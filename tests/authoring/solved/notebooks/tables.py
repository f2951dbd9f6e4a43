# %% [markdown]
# # Tables

# %%
import io

import pandas as pd

# %% [markdown]
# ## 1. Reading (3 points)

# %%
def read_scores(text):
    """Read comma-separated scores; return the names of those with at least 50 points, best first."""
    table = pd.read_csv(io.StringIO(text), names=["name", "points"])
    good = table[table["points"] >= 50].sort_values(["points", "name"], ascending=[False, True])
    return good["name"].tolist()

read_scores("ada,80\nbo,30\ncy,50")

# %% [markdown]
# ## 2. Grouping (4 points)

# %%
def mean_by_group(groups, values):
    """The mean of the values of each group, as a dictionary."""
    table = pd.DataFrame({"group": groups, "value": values})
    return table.groupby("group")["value"].mean().to_dict()

mean_by_group(["a", "b", "a"], [1.0, 2.0, 4.0])
