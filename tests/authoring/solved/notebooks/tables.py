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

# %% [markdown]
# ## 3. Cleaning (5 points)

# %%
sales = pd.DataFrame(
    {
        "shop": ["north", "south", "north", "south", "east"],
        "day": pd.to_datetime(["2024-03-01", "2024-03-01", "2024-03-02", None, "2024-03-04"]),
        "items": [3, 5, 2, 4, 1],
        "price": [2.5, 1.0, None, 4.0, 3.5],
    }
)

def clean(table):
    """Drop the rows without a day; a missing price is 0. Add the column `revenue`."""
    kept = table.dropna(subset=["day"]).fillna({"price": 0.0})
    return kept.assign(revenue=kept["items"] * kept["price"]).reset_index(drop=True)

def best_shops(table, at_least):
    """Return the revenue of each shop that has at least that much, the highest first."""
    sums = clean(table).groupby("shop")["revenue"].sum()
    return sums[sums >= at_least].sort_values(ascending=False, kind="stable")

clean(sales)

# %%
best_shops(sales, 4.0)
