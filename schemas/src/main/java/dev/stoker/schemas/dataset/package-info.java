/**
 * {@code dataset.json}: what a dataset is, fixed at its creation. Pure bytes. Normative: {@code docs/formats/dataset.md}.
 */
package dev.stoker.schemas.dataset;
