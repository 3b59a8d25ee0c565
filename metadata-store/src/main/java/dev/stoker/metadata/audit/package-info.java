/**
 * Checks a feed's ledger against the dataset alone: which batches were acknowledged, whether each was acknowledged
 * exactly once over the sequence of runs, and whether the checksums match the order and the chunks.
 *
 * <p>The audit recomputes everything from the order function and the heads of the chunks. It must not depend on the
 * feeder. It starts threads only for reading ({@link dev.stoker.metadata.audit.Reads}); they end with the audit. The
 * rules are in {@code docs/formats/ledger.md}, section "Audit".
 */
package dev.stoker.metadata.audit;
