/**
 * The order of the data: determines which sample is in which batch of which epoch, for any number of ranks.
 *
 * <p>All classes are pure and immutable: no threads, no files, no clock, no random generator. The same order spec over
 * the same chunks gives the same batches on every machine. {@code docs/formats/order.md} is normative. Every
 * implementation must pass the vectors under {@code schemas/src/test/resources/vectors}. Objects may be shared between
 * threads; a lazily computed value is computed at most twice. This package is independent of feeders, sockets and
 * caches.
 */
package dev.stoker.schemas.order;
