/**
 * Ledger files: what trainers subscribed to and what they acknowledged. Pure bytes; the files are written by the feeder's
 * sink, one per checkpoint, and read by the audit. Normative: {@code docs/formats/ledger.md}.
 */
package dev.stoker.schemas.ledger;
