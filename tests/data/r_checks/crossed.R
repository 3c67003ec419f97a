# Writes crossed_lme4.csv: glmer's fit of crossed.csv (model, condition, template, case_id, node, found).
# Rscript crossed.R, in this folder; R 4.2.2, lme4 1.1.31. With the default tolPwrss (1e-7) lme4 stops 0.02 log-likelihood earlier.
library(lme4)
d <- read.csv("crossed.csv")
control <- glmerControl(optimizer = "bobyqa", tolPwrss = 1e-10, optCtrl = list(maxfun = 2e5))
full <- glmer(found ~ model * condition + (1 | template) + (1 | case_id) + (1 | node), d, binomial, control = control)
plain <- glmer(found ~ model + condition + (1 | template) + (1 | case_id) + (1 | node), d, binomial, control = control)
fixed <- coef(summary(full))[, 1:2]
name <- rownames(fixed)
both <- grepl(":", name)
short <- gsub("(model|condition)", "", name)
label <- ifelse(name == "(Intercept)", "intercept", ifelse(both, paste0("model x condition", sub(":", ", ", short)), name))
spread <- as.data.frame(VarCorr(full))
group <- c(template = "template", case_id = "case_id", node = "node_id")[spread$grp]
rows <- rbind(
  data.frame(kind = "term", name = label, estimate = fixed[, 1], se = fixed[, 2]),
  data.frame(kind = "sd", name = group, estimate = spread$sdcor, se = NA),
  data.frame(kind = "chi2", name = "interaction", estimate = 2 * as.numeric(logLik(full) - logLik(plain)), se = NA)
)
rows[, 3:4] <- signif(rows[, 3:4], 9)
write.csv(rows, "crossed_lme4.csv", row.names = FALSE, na = "", quote = 2)
