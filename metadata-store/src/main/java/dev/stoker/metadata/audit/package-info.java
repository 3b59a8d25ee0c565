/**
 * Judges a feed's ledger against the dataset alone: which batches were acknowledged, whether each was acknowledged exactly
 * once in the lineage of runs, and whether the checksums are those that order and chunks give. It recomputes everything from
 * order function and chunk heads and must know nothing of the feeder. Starts threads for reading alone ({@link
 * dev.stoker.metadata.audit.Reads}), which end with the audit.
 *
 * <p>The rules are those of {@code docs/formats/ledger.md}, section "Audit".
 */
package dev.stoker.metadata.audit;
