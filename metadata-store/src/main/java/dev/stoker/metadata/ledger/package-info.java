/** The files of a feed's ledger: their names, and how many small ones become a few. */
@NullMarked
package dev.stoker.metadata.ledger;

import org.jspecify.annotations.NullMarked;
