/**
 * Ledger files: the subscriptions and acknowledgements of trainers. Contains only byte layouts. The feeder's sink
 * writes one file for each checkpoint, and the audit reads them. Normative: {@code docs/formats/ledger.md}.
 */
package dev.stoker.schemas.ledger;
