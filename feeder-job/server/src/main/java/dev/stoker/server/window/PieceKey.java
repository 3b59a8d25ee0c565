package dev.stoker.server.window;

import dev.stoker.schemas.order.DeliveredBatch;
import dev.stoker.schemas.order.EpochOrder;

/**
 * Which piece to build, and for whom.
 *
 * @param epoch the epoch
 * @param batch the delivered batch
 * @param piece the piece's index in it
 * @param subscription the subscription that asked for it
 */
public record PieceKey(EpochOrder epoch, DeliveredBatch batch, int piece, long subscription) {}
