/**
 * The order of the data: which sample is in which batch of which epoch, for any number of ranks.
 *
 * <p>Everything here is pure and immutable: no threads, no files, no clock, no random generator. The same order spec
 * over the same chunks gives the same batches on every machine; {@code docs/formats/order.md} is normative and the
 * vectors under {@code schemas/src/test/resources/vectors} bind every implementation. Objects may be shared between
 * threads; what is computed lazily is computed twice at worst. Nothing here knows of feeders, sockets or caches.
 */
package dev.stoker.schemas.order;
