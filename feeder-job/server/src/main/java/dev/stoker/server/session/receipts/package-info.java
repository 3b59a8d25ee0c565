/**
 * Checks acknowledgements against the order, and keeps them until the ledger has them.
 */
package dev.stoker.server.session.receipts;
