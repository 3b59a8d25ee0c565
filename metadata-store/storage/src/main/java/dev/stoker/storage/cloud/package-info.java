/**
 * Object stores over the client libraries of Google and Microsoft.
 *
 * <p>No code outside this package may refer to it or to a class of these libraries: Stoker loads this package with the
 * first location of a cloud, possibly with a separate class loader.
 */
package dev.stoker.storage.cloud;
