/**
 * Gives samples other values of small fields: writes overlays of the chunks that have the samples. Reads the heads of
 * chunks with several threads, and no payload. Must not be used by the other packages below the dataset.
 */
package dev.stoker.metadata.update;
