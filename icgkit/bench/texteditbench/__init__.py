"""TextEditBench: its public folder is read as it is, repairs are reported, a dataset is written."""
