package dev.stoker.server.window;

import dev.stoker.schemas.order.EpochOrder;
import dev.stoker.schemas.order.delivery.DeliveredBatch;

/**
 * Which piece to build, and for whom.
 *
 * @param epoch the epoch
 * @param batch the delivered batch
 * @param piece the piece's index in it
 * @param subscription the subscription that asked for it
 */
public record PieceKey(EpochOrder epoch, DeliveredBatch batch, int piece, long subscription) {}
