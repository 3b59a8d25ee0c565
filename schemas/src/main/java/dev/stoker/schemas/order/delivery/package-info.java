/**
 * Delivered batches: which batches of an epoch a trainer receives, at which position, and which it skips.
 */
package dev.stoker.schemas.order.delivery;
