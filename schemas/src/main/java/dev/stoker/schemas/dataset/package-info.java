/**
 * {@code dataset.json}: what a dataset is, fixed at its creation; and which version an epoch of a following feed
 * reads. Pure bytes. Normative: {@code docs/formats/dataset.md}.
 */
package dev.stoker.schemas.dataset;
