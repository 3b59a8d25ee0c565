package dev.stoker.hadoop.contract;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.contract.AbstractContractGetFileStatusTest;
import org.apache.hadoop.fs.contract.AbstractFSContract;

class GetFileStatusContractTest extends AbstractContractGetFileStatusTest {

    @Override
    protected AbstractFSContract createContract(Configuration conf) {
        return new StokerContract(conf);
    }
}
