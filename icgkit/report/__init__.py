"""Reports: recorded runs become tables, figures and files with captions, notes and numbers of cases."""
