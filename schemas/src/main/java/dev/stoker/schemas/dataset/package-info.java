/**
 * {@code dataset.json}, which describes a dataset and is fixed at its creation, leases, and epoch choices. Contains
 * only byte layouts. Normative: {@code docs/formats/dataset.md}.
 */
package dev.stoker.schemas.dataset;
