# Writes what an sdcMicro problem says about its columns as JSON, for `shoal import-policy`. No data is written.
#
#   source("sdcmicro_to_json.R")
#   sdcmicro_to_json(obj, "problem.json")     # obj: an sdcMicroObj, from createSdcObj()
#
# Base R only. Where sdcMicro has numbers of columns, names are written.

sdcmicro_to_json <- function(obj, file) {
  slot_of <- function(name) if (.hasSlot(obj, name)) slot(obj, name) else NULL
  columns <- names(slot_of("origData"))
  names_of <- function(name) {
    found <- unlist(slot_of(name))
    if (is.null(found)) character(0) else if (is.numeric(found)) columns[found] else as.character(found)
  }
  text <- function(word) {
    word <- gsub("\\\\", "\\\\\\\\", enc2utf8(word))
    word <- gsub("\"", "\\\\\"", word)
    paste0("\"", gsub("[[:cntrl:]]", " ", word), "\"")
  }
  many <- function(words) paste0("[", paste(vapply(words, text, ""), collapse = ", "), "]")
  one <- function(words) if (length(words) == 1) text(words) else "null"
  number <- function(value) {
    plain <- is.numeric(value) && length(value) == 1 && is.finite(value)
    if (plain) format(value, scientific = FALSE) else "null"
  }
  # the k of kAnon(); the threshold of localSupp() is a risk
  suppressed_to <- function() {
    found <- slot_of("localSuppression")
    if (is.list(found)) found[["k"]] else NULL
  }
  alpha <- function() {
    options <- slot_of("options")
    if (is.list(options)) options$alpha else NULL
  }
  done <- character(0)
  if (length(slot_of("pram")) > 0) done <- c(done, "PRAM")
  if (length(slot_of("localSuppression")) > 0) done <- c(done, "local suppression")
  version <- tryCatch(as.character(utils::packageVersion("sdcMicro")), error = function(e) character(0))
  fields <- c(
    tool = text("sdcMicro"), version = one(version), columns = many(columns),
    keyVars = many(names_of("keyVars")), numVars = many(names_of("numVars")),
    pramVars = many(names_of("pramVars")),
    ghostVars = many(setdiff(names_of("ghostVars"), names_of("keyVars"))),
    deletedVars = many(names_of("deletedVars")), sensibleVar = many(names_of("sensibleVar")),
    weightVar = one(names_of("weightVar")), hhId = one(names_of("hhId")),
    strataVar = many(names_of("strataVar")), alpha = number(alpha()),
    localSuppressionK = number(suppressed_to()), changed = many(done)
  )
  lines <- paste0("  \"", names(fields), "\": ", fields)
  writeLines(c("{", paste(lines, collapse = ",\n"), "}"), file, useBytes = TRUE)
}
