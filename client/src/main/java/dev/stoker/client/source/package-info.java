/** What every source of batches has in common: pieces, the share of a trainer, the order of requests. Internal. */
package dev.stoker.client.source;
