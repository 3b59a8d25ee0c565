/** The errors of the client, all of which are unchecked. */
package dev.stoker.client.errors;
