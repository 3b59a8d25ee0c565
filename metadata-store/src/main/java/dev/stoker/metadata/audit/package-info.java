/**
 * Judges a feed's ledger against the dataset alone: which batches were acknowledged, whether each was acknowledged exactly
 * once in the lineage of runs, and whether the checksums are those that order and chunks give. It recomputes everything from
 * order function and chunk heads and must know nothing of the feeder. Starts no threads.
 *
 * <p>The rules are those of {@code docs/formats/ledger.md}, section "Audit".
 */
package dev.stoker.metadata.audit;
