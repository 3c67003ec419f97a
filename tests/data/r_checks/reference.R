# Numbers of independent software for the estimators of icgkit.metrics.
# Run once, by hand, in this folder:  Rscript reference.R > reference.json
suppressPackageStartupMessages({
  library(jsonlite); library(geepack); library(lme4); library(boot); library(psych)
  library(epiR); library(coin); library(pwr)
})
d <- read.csv("judged.csv", stringsAsFactors = FALSE)
d$condition <- relevel(factor(d$condition), ref = "direct")
d$model <- relevel(factor(d$model), ref = "m1")
d$case <- as.integer(factor(d$case_id))
d <- d[order(d$case), ]
out <- list()

# GEE: exchangeable, robust errors.
g <- geeglm(found ~ condition + model, id = case, data = d, family = binomial, corstr = "exchangeable",
            control = geese.control(epsilon = 1e-10, maxit = 200))
s <- summary(g)$coefficients
out$gee <- list(names = rownames(s), coefficient = s[, 1], se = s[, 2], alpha = unname(g$geese$alpha),
                phi = unname(g$geese$gamma))
i <- geeglm(found ~ condition + model, id = case, data = d, family = binomial, corstr = "independence",
            control = geese.control(epsilon = 1e-10, maxit = 200))
s <- summary(i)$coefficients
out$gee_independence <- list(names = rownames(s), coefficient = s[, 1], se = s[, 2])

# Mixed model: respondents fixed, items random.
d$respondent <- factor(paste(d$model, d$condition, sep = "/"))
d$item <- factor(paste(d$case_id, d$node_id, sep = "/"))
m <- glmer(found ~ 0 + respondent + (1 | item), data = d, family = binomial, nAGQ = 25,
           control = glmerControl(optimizer = "bobyqa", optCtrl = list(maxfun = 2e5)))
out$glmer <- list(names = names(fixef(m)), coefficient = unname(fixef(m)),
                  se = unname(sqrt(diag(as.matrix(vcov(m))))), sd = unname(attr(VarCorr(m)$item, "stddev")),
                  items = rownames(ranef(m)$item), mode = ranef(m)$item[, 1])

# Cluster bootstrap of macro and micro recall, and of a paired difference.
part <- d[d$model == "m1", ]
f <- function(k) tapply(part$found[part$condition == k], part$case[part$condition == k], sum)
n <- tapply(part$found[part$condition == "direct"], part$case[part$condition == "direct"], length)
table <- cbind(direct = f("direct"), oracle = f("oracle"), n = n)
set.seed(20261130)
b <- boot(table, function(t, w) {
  t <- t[w, ]
  c(mean(t[, 1] / t[, 3]), sum(t[, 1]) / sum(t[, 3]), mean((t[, 2] - t[, 1]) / t[, 3]))
}, R = 50000)
ci <- sapply(1:3, function(k) boot.ci(b, type = "perc", index = k)$percent[4:5])
out$boot <- list(estimate = b$t0, se = apply(b$t, 2, sd), low = ci[1, ], high = ci[2, ])

# Two judges.
k <- cohen.kappa(cbind(d$found, d$found2))
out$kappa <- list(kappa = k$kappa, variance = k$var.kappa, n = nrow(d))
tab <- table(factor(d$found, levels = c(1, 0)), factor(d$found2, levels = c(1, 0)))
e <- epi.kappa(tab)
out$epi <- list(raw = e$prop.agree$obs, kappa = e$kappa$est, pabak = e$pabak$est, cells = as.vector(tab))

# Paired outcomes of one model: direct against oracle.
w <- merge(part[part$condition == "direct", c("case", "node_id", "found")],
           part[part$condition == "oracle", c("case", "node_id", "found")], by = c("case", "node_id"))
b10 <- sum(w$found.x == 1 & w$found.y == 0); b01 <- sum(w$found.x == 0 & w$found.y == 1)
pair <- as.table(matrix(c(sum(w$found.x & w$found.y), b01, b10, sum(!w$found.x & !w$found.y)), 2))
mh <- mh_test(pair, distribution = "exact")
out$mcnemar <- list(reference_only = b10, target_only = b01, exact = binom.test(min(b10, b01), b10 + b01)$p.value,
                    exact_coin = as.numeric(pvalue(mh)), midp = as.numeric(midpvalue(mh)))
# A smaller set, where the p-value is not tiny: direct against cot.
z <- merge(part[part$condition == "direct", c("case", "node_id", "found")],
           part[part$condition == "cot", c("case", "node_id", "found")], by = c("case", "node_id"))
c10 <- sum(z$found.x == 1 & z$found.y == 0); c01 <- sum(z$found.x == 0 & z$found.y == 1)
pair <- as.table(matrix(c(sum(z$found.x & z$found.y), c01, c10, sum(!z$found.x & !z$found.y)), 2))
mh <- mh_test(pair, distribution = "exact")
out$mcnemar_cot <- list(reference_only = c10, target_only = c01, exact = binom.test(min(c10, c01), c10 + c01)$p.value,
                        midp = as.numeric(midpvalue(mh)))
# Sign flips of whole cases (sum of differences), exact over the first 14 cases.
few <- z[z$case <= 14, ]
dif <- tapply(few$found.y - few$found.x, few$case, sum)
long <- data.frame(y = c(rep(0, length(dif)), dif), x = factor(rep(c("a", "b"), each = length(dif))),
                   block = factor(rep(seq_along(dif), 2)))
st <- symmetry_test(y ~ x | block, data = long, distribution = "exact")
out$permutation <- list(p = as.numeric(pvalue(st)), estimate = sum(dif) / nrow(few))
long <- data.frame(y = c(rep(0, nrow(table)), (table[, 2] - table[, 1])), x = factor(rep(c("a", "b"), each = nrow(table))),
                   block = factor(rep(seq_len(nrow(table)), 2)))
cd <- cohen.d(c(w$found.x, w$found.y), group = rep(1:2, each = nrow(w)))
out$cohen <- list(d = unname(cd$cohen.d[1, "effect"]), dz = mean(w$found.y - w$found.x) / sd(w$found.y - w$found.x))

# Ranks and many comparisons.
x <- c(0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3)
y <- c(.87, .73, .52, .49, .61, .44, .58, .39, .34, .41, .45, .52, .47, .33, .55, .41, .14, .18, .22)
ct <- suppressWarnings(cor.test(x, y, method = "spearman", exact = FALSE))
out$spearman <- list(x = x, y = y, rho = unname(ct$estimate), p = ct$p.value)
p <- c(0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216)
out$adjust <- list(p = p, holm = p.adjust(p, "holm"), bh = p.adjust(p, "BH"))

# Power.
out$power <- list(
  power = pwr.norm.test(d = 0.04 / 0.3, n = 461, sig.level = 0.05, alternative = "two.sided")$power,
  n = pwr.norm.test(d = 0.04 / 0.3, power = 0.9, sig.level = 0.05, alternative = "two.sided")$n
)
out$wilson <- as.vector(prop.test(47, 54, correct = FALSE)$conf.int)
out$software <- list(R = R.version.string, date = format(Sys.Date()), packages = as.list(sapply(
  c("geepack", "lme4", "boot", "psych", "epiR", "coin", "pwr"), function(q) as.character(packageVersion(q)))))
cat(toJSON(out, digits = 15, auto_unbox = TRUE, pretty = TRUE), "\n")
