"""The picture of a class: `report/03_cell.html` for each unit, and `report/index.html`, which leads to all of them."""
